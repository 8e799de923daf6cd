-- Films, in the form of Jellyfin: GUIDs as keys of text and blobs, wide rows, NULLs, indexes over many columns.
CREATE TABLE TypedBaseItems (guid GUID primary key NOT NULL, type TEXT NOT NULL, data BLOB NULL, ParentId GUID NULL, Path TEXT NULL, StartDate DATETIME NULL, EndDate DATETIME NULL, ChannelId Text NULL, IsMovie BIT NULL,
  CommunityRating Float NULL, Name Text NULL, MediaType Text NULL, Overview Text NULL, SortName Text NULL, RunTimeTicks BIGINT NULL, DateCreated DATETIME NULL, Genres Text NULL, TopParentId Text NULL, PresentationUniqueKey TEXT NULL);
CREATE TABLE AncestorIds (ItemId GUID NOT NULL, AncestorId GUID NOT NULL, AncestorIdText TEXT NOT NULL, PRIMARY KEY (ItemId, AncestorId));
CREATE TABLE ItemValues (ItemId GUID NOT NULL, Type INT NOT NULL, Value TEXT NOT NULL, CleanValue TEXT NOT NULL);
CREATE TABLE People (ItemId GUID, Name TEXT NOT NULL, Role TEXT, PersonType TEXT, SortOrder int, ListOrder int);
CREATE TABLE Chapters2 (ItemId GUID, ChapterIndex INT NOT NULL, StartPositionTicks BIGINT NOT NULL, Name TEXT, ImagePath TEXT, PRIMARY KEY (ItemId, ChapterIndex));
CREATE TABLE mediastreams (ItemId GUID, StreamIndex INT, StreamType TEXT, Codec TEXT, Language TEXT, BitRate INT NULL, AverageFrameRate FLOAT NULL, PRIMARY KEY (ItemId, StreamIndex));
CREATE TABLE UserDatas (key nvarchar not null, userId INT not null, rating float null, played bit not null, playCount int not null, isFavorite bit not null, playbackPositionTicks bigint not null, lastPlayedDate datetime null);
CREATE INDEX idxPathTypedBaseItems ON TypedBaseItems(Path);
CREATE INDEX idxParentIdTypedBaseItems ON TypedBaseItems(ParentId);
CREATE INDEX idxTypeTopParentId5 ON TypedBaseItems(TopParentId, Type, StartDate, PresentationUniqueKey);
CREATE INDEX idx_ItemValues6 ON ItemValues(ItemId, Type, CleanValue);
CREATE INDEX idxPeopleItemId1 ON People(ItemId, ListOrder);
CREATE UNIQUE INDEX UserDatasIndex1 ON UserDatas(key, userId);
-- value: TypedBaseItems.guid = CAST(printf('%016d', n) AS BLOB)
-- value: TypedBaseItems.ParentId = CAST(printf('%016d', n / 10) AS BLOB)
-- value: ItemValues.ItemId = CAST(printf('%016d', n / 4) AS BLOB)
