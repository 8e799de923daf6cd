-- Map tiles, in the form of an MBTiles file of the kind that shares images: no keys but indexes, a view named as the table of the specification.
PRAGMA application_id = 1297105496;
CREATE TABLE metadata (name text, value text);
CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT, grid_id TEXT);
CREATE TABLE images (tile_data blob, tile_id text);
CREATE TABLE grid_key (grid_id TEXT, key_name TEXT);
CREATE UNIQUE INDEX map_index ON map (zoom_level, tile_column, tile_row);
CREATE UNIQUE INDEX images_id ON images (tile_id);
CREATE UNIQUE INDEX grid_key_lookup ON grid_key (grid_id, key_name);
CREATE UNIQUE INDEX name ON metadata (name);
-- value: map.zoom_level = 9
-- value: map.tile_column = n % 30
-- value: map.tile_row = n / 30
-- value: map.tile_id = 'tile ' || (n / 2)
-- value: images.tile_id = 'tile ' || n
-- value: images.tile_data = CASE WHEN n % 7 = 0 THEN zeroblob(15000 + n) ELSE zeroblob(100 + n) END
-- rows
CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, map.tile_row AS tile_row, images.tile_data AS tile_data FROM map JOIN images ON images.tile_id = map.tile_id;
