-- Measurements, in the form of Home Assistant's recorder: hundreds of indexes per row in practice, timestamps as doubles, columns that are no longer used.
CREATE TABLE event_data (data_id INTEGER NOT NULL, hash BIGINT, shared_data TEXT, PRIMARY KEY (data_id));
CREATE TABLE event_types (event_type_id INTEGER NOT NULL, event_type VARCHAR(64), PRIMARY KEY (event_type_id));
CREATE TABLE events (event_id INTEGER NOT NULL, event_type CHAR(0), event_data CHAR(0), origin CHAR(0), origin_idx SMALLINT, time_fired CHAR(0), time_fired_ts FLOAT, context_id CHAR(0),
  data_id INTEGER, context_id_bin BLOB, event_type_id INTEGER, PRIMARY KEY (event_id), FOREIGN KEY(data_id) REFERENCES event_data (data_id), FOREIGN KEY(event_type_id) REFERENCES event_types (event_type_id));
CREATE TABLE state_attributes (attributes_id INTEGER NOT NULL, hash BIGINT, shared_attrs TEXT, PRIMARY KEY (attributes_id));
CREATE TABLE states_meta (metadata_id INTEGER NOT NULL, entity_id VARCHAR(255), PRIMARY KEY (metadata_id));
CREATE TABLE states (state_id INTEGER NOT NULL, entity_id CHAR(0), state VARCHAR(255), attributes CHAR(0), last_changed CHAR(0), last_changed_ts FLOAT, last_updated_ts FLOAT, old_state_id INTEGER, attributes_id INTEGER,
  context_id_bin BLOB, metadata_id INTEGER, PRIMARY KEY (state_id), FOREIGN KEY(old_state_id) REFERENCES states (state_id), FOREIGN KEY(attributes_id) REFERENCES state_attributes (attributes_id), FOREIGN KEY(metadata_id) REFERENCES states_meta (metadata_id));
CREATE TABLE statistics_meta (id INTEGER NOT NULL, statistic_id VARCHAR(255), source VARCHAR(32), unit_of_measurement VARCHAR(255), has_mean BOOLEAN, has_sum BOOLEAN, name VARCHAR(255), PRIMARY KEY (id));
CREATE TABLE statistics (id INTEGER NOT NULL, created DATETIME, created_ts FLOAT, metadata_id INTEGER, start_ts FLOAT, mean FLOAT, min FLOAT, max FLOAT, state FLOAT, sum FLOAT, PRIMARY KEY (id),
  FOREIGN KEY(metadata_id) REFERENCES statistics_meta (id) ON DELETE CASCADE);
CREATE INDEX ix_event_data_hash ON event_data (hash);
CREATE UNIQUE INDEX ix_event_types_event_type ON event_types (event_type);
CREATE INDEX ix_events_context_id_bin ON events (context_id_bin);
CREATE INDEX ix_events_event_type_id_time_fired_ts ON events (event_type_id, time_fired_ts);
CREATE INDEX ix_states_metadata_id_last_updated_ts ON states (metadata_id, last_updated_ts);
CREATE INDEX ix_states_attributes_id ON states (attributes_id);
CREATE INDEX ix_states_old_state_id ON states (old_state_id);
CREATE UNIQUE INDEX ix_states_meta_entity_id ON states_meta (entity_id);
CREATE UNIQUE INDEX ix_statistics_statistic_id_start_ts ON statistics (metadata_id, start_ts);
CREATE INDEX ix_statistics_start_ts ON statistics (start_ts DESC);
