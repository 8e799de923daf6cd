-- Photographs, in the form of a Lightroom catalogue: columns without types, keys without INTEGER, NOT NULL DEFAULTs of every kind.
CREATE TABLE Adobe_variablesTable (id_local INTEGER PRIMARY KEY, id_global UNIQUE NOT NULL, name, type, value NOT NULL DEFAULT '');
CREATE TABLE AgLibraryRootFolder (id_local INTEGER PRIMARY KEY, id_global UNIQUE NOT NULL, absolutePath UNIQUE NOT NULL DEFAULT '', name NOT NULL DEFAULT '', relativePathFromCatalog);
CREATE TABLE AgLibraryFolder (id_local INTEGER PRIMARY KEY, id_global UNIQUE NOT NULL, parentId INTEGER, pathFromRoot NOT NULL DEFAULT '', rootFolder INTEGER NOT NULL DEFAULT 0);
CREATE TABLE AgLibraryFile (id_local INTEGER PRIMARY KEY, id_global UNIQUE NOT NULL, baseName NOT NULL DEFAULT '', errorMessage, extension NOT NULL DEFAULT '', externalModTime, folder INTEGER NOT NULL DEFAULT 0, idx_filename NOT NULL DEFAULT '', lc_idx_filename NOT NULL DEFAULT '');
CREATE TABLE Adobe_images (id_local INTEGER PRIMARY KEY, id_global UNIQUE NOT NULL, aspectRatioCache NOT NULL DEFAULT -1, bitDepth NOT NULL DEFAULT 0, captureTime, colorLabels NOT NULL DEFAULT '', fileFormat NOT NULL DEFAULT 'unset',
  masterImage INTEGER, orientation, pick NOT NULL DEFAULT 0, positionInFolder NOT NULL DEFAULT 'z', rating, rootFile INTEGER NOT NULL DEFAULT 0, touchCount NOT NULL DEFAULT 0);
CREATE TABLE AgLibraryKeyword (id_local INTEGER PRIMARY KEY, id_global UNIQUE NOT NULL, dateCreated NOT NULL DEFAULT '', genealogy NOT NULL DEFAULT '', includeOnExport INTEGER NOT NULL DEFAULT 1, lc_name, name, parent INTEGER);
CREATE TABLE AgLibraryKeywordImage (id_local INTEGER PRIMARY KEY, image INTEGER NOT NULL DEFAULT 0, tag INTEGER NOT NULL DEFAULT 0);
CREATE INDEX index_AgLibraryFile_importHash ON AgLibraryFile (externalModTime);
CREATE UNIQUE INDEX index_AgLibraryFile_nameAndFolder ON AgLibraryFile (lc_idx_filename, folder);
CREATE INDEX index_Adobe_images_captureTime ON Adobe_images (captureTime);
CREATE INDEX index_Adobe_images_ratingAndCaptureTime ON Adobe_images (rating, captureTime);
CREATE UNIQUE INDEX index_AgLibraryFolder_rootFolderAndPath ON AgLibraryFolder (rootFolder, pathFromRoot);
CREATE INDEX index_AgLibraryKeywordImage_tag ON AgLibraryKeywordImage (tag);
-- value: AgLibraryFile.id_global = printf('%08X-%04X', n, n % 77)
-- value: Adobe_images.captureTime = datetime(1500000000 + n * 60, 'unixepoch')
-- value: Adobe_images.rating = CASE n % 3 WHEN 0 THEN n % 6 WHEN 1 THEN (n % 6) * 1.0 END
-- rows
CREATE TRIGGER trigger_AgDNGProxyInfo_fileCreated AFTER INSERT ON AgLibraryFile BEGIN UPDATE Adobe_variablesTable SET value = NEW.baseName WHERE id_local = 1; END;
CREATE TRIGGER trigger_keyword_delete AFTER DELETE ON AgLibraryKeyword BEGIN DELETE FROM AgLibraryKeywordImage WHERE tag = OLD.id_local; END;
