-- A repository, in the form of Fossil: CHECK of lengths, references, blobs, many-column keys, a temporary-looking queue table.
PRAGMA page_size = 8192;
PRAGMA application_id = 252006673;
CREATE TABLE blob (rid INTEGER PRIMARY KEY, rcvid INTEGER, size INTEGER, uuid TEXT UNIQUE NOT NULL, content BLOB, CHECK(length(uuid)>=40 AND rid>0));
CREATE TABLE delta (rid INTEGER PRIMARY KEY, srcid INTEGER NOT NULL REFERENCES blob);
CREATE TABLE rcvfrom (rcvid INTEGER PRIMARY KEY, uid INTEGER REFERENCES user, mtime DATETIME, nonce TEXT UNIQUE, ipaddr TEXT);
CREATE TABLE user (uid INTEGER PRIMARY KEY, login TEXT UNIQUE, pw TEXT, cap TEXT, cookie TEXT, cexpire DATETIME, info TEXT, mtime DATE, photo BLOB, jx TEXT DEFAULT '{}');
CREATE TABLE config (name TEXT PRIMARY KEY NOT NULL, value CLOB, mtime DATE, CHECK(typeof(name)='text' AND length(name)>=1)) WITHOUT ROWID;
CREATE TABLE event (type TEXT, mtime DATETIME, objid INTEGER PRIMARY KEY, tagid INTEGER, uid INTEGER REFERENCES user, bgcolor TEXT, euser TEXT, user TEXT, ecomment TEXT, comment TEXT, omtime DATETIME);
CREATE TABLE mlink (mid INTEGER, fid INTEGER, pmid INTEGER, pid INTEGER, fnid INTEGER REFERENCES filename, pfnid INTEGER, mperm INTEGER, isaux BOOLEAN DEFAULT 0);
CREATE TABLE filename (fnid INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE plink (pid INTEGER REFERENCES blob, cid INTEGER REFERENCES blob, isprim BOOLEAN, mtime DATETIME, baseid INTEGER REFERENCES blob, UNIQUE(pid, cid));
CREATE TABLE tag (tagid INTEGER PRIMARY KEY, tagname TEXT UNIQUE);
CREATE TABLE tagxref (tagid INTEGER REFERENCES tag, tagtype INTEGER, srcid INTEGER REFERENCES blob, origid INTEGER REFERENCES blob, value TEXT, mtime TIMESTAMP, rid INTEGER REFERENCE blob, UNIQUE(rid, tagid));
CREATE TABLE unclustered (rid INTEGER PRIMARY KEY);
CREATE INDEX delta_i1 ON delta (srcid);
CREATE INDEX blob_rcvid ON blob (rcvid);
CREATE INDEX event_i1 ON event (mtime);
CREATE INDEX mlink_i1 ON mlink (mid);
CREATE INDEX mlink_i2 ON mlink (fnid);
CREATE INDEX plink_i2 ON plink (cid, pid);
CREATE INDEX tagxref_i1 ON tagxref (tagid, mtime);
-- value: blob.uuid = printf('%064x', n)
-- value: blob.content = zeroblob(n * 37 % 3000)
-- value: filename.name = 'src/file' || n || '.c'
-- rows
CREATE VIEW artifact (rid, rcvid, size, atype, srcid, hash, content) AS SELECT blob.rid, rcvid, size, 1, srcid, uuid, content FROM blob LEFT JOIN delta ON (blob.rid = delta.rid);
