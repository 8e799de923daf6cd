-- Parcels, in the form of a GeoPackage: CHECK, foreign keys to names, R-Tree with triggers that call functions of a spatial extension.
PRAGMA application_id = 1196444487;
PRAGMA user_version = 10300;
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER, CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name), CONSTRAINT uk_gc_table_name UNIQUE (table_name), CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name));
CREATE TABLE gpkg_tile_matrix (table_name TEXT NOT NULL, zoom_level INTEGER NOT NULL, matrix_width INTEGER NOT NULL, pixel_x_size DOUBLE NOT NULL, CONSTRAINT pk_ttm PRIMARY KEY (table_name, zoom_level));
CREATE TABLE gpkg_ogr_contents (table_name TEXT NOT NULL PRIMARY KEY, feature_count INTEGER DEFAULT NULL);
CREATE TABLE "parcels" ("fid" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "geom" POLYGON, "name" TEXT(80), "area" REAL, "owner" TEXT, "taken" BOOLEAN);
CREATE TABLE "roads" ("fid" INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, "geom" LINESTRING, "name" TEXT, "lanes" MEDIUMINT);
-- value: gpkg_spatial_ref_sys.srs_id = 4000 + n
-- value: gpkg_contents.table_name = 'layer ' || n
-- value: gpkg_geometry_columns.table_name = 'layer ' || n
-- value: parcels.geom = CAST('GP' || n AS BLOB)
-- rows
CREATE VIRTUAL TABLE "rtree_parcels_geom" USING rtree(id, minx, maxx, miny, maxy);
INSERT INTO rtree_parcels_geom SELECT fid, fid % 100, fid % 100 + 2, fid / 100, fid / 100 + 1 FROM parcels;
CREATE TRIGGER "rtree_parcels_geom_insert" AFTER INSERT ON "parcels" WHEN (new."geom" NOT NULL AND NOT ST_IsEmpty(NEW."geom"))
  BEGIN INSERT OR REPLACE INTO "rtree_parcels_geom" VALUES (NEW."fid", ST_MinX(NEW."geom"), ST_MaxX(NEW."geom"), ST_MinY(NEW."geom"), ST_MaxY(NEW."geom")); END;
CREATE TRIGGER "rtree_parcels_geom_delete" AFTER DELETE ON "parcels" WHEN old."geom" NOT NULL BEGIN DELETE FROM "rtree_parcels_geom" WHERE id = OLD."fid"; END;
CREATE TRIGGER "trigger_insert_feature_count_roads" AFTER INSERT ON "roads" BEGIN UPDATE gpkg_ogr_contents SET feature_count = feature_count + 1 WHERE lower(table_name) = lower('roads'); END;
