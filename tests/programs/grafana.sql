-- Dashboards, in the form of Grafana: indexes with upper-case names, backquotes, text of kilobytes, columns added by migrations.
CREATE TABLE `migration_log` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `migration_id` TEXT NOT NULL, `sql` TEXT NOT NULL, `success` INTEGER NOT NULL, `error` TEXT NOT NULL, `timestamp` DATETIME NOT NULL);
CREATE TABLE `user` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `version` INTEGER NOT NULL, `login` TEXT NOT NULL, `email` TEXT NOT NULL, `name` TEXT NULL, `password` TEXT NULL, `org_id` INTEGER NOT NULL, `is_admin` INTEGER NOT NULL, `created` DATETIME NOT NULL);
CREATE TABLE `dashboard` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `version` INTEGER NOT NULL, `slug` TEXT NOT NULL, `title` TEXT NOT NULL, `data` TEXT NOT NULL, `org_id` INTEGER NOT NULL, `created` DATETIME NOT NULL, `updated` DATETIME NOT NULL);
CREATE TABLE `dashboard_tag` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `dashboard_id` INTEGER NOT NULL, `term` TEXT NOT NULL);
CREATE TABLE `annotation` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `org_id` INTEGER NOT NULL, `alert_id` INTEGER NULL, `dashboard_id` INTEGER NULL, `panel_id` INTEGER NULL, `type` TEXT NOT NULL, `text` TEXT NOT NULL, `epoch` INTEGER NOT NULL);
CREATE TABLE `kv_store` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `org_id` INTEGER NOT NULL, `namespace` TEXT NOT NULL, `key` TEXT NOT NULL, `value` TEXT NOT NULL);
CREATE UNIQUE INDEX `UQE_user_login` ON `user` (`login`);
CREATE UNIQUE INDEX `UQE_user_email` ON `user` (`email`);
CREATE INDEX `IDX_dashboard_org_id` ON `dashboard` (`org_id`);
CREATE UNIQUE INDEX `UQE_kv_store_org_id_namespace_key` ON `kv_store` (`org_id`,`namespace`,`key`);
-- value: dashboard.data = CASE WHEN n % 20 = 0 THEN hex(zeroblob(5000)) ELSE '{}' END
-- rows
alter table `dashboard` ADD COLUMN `uid` TEXT NULL;
alter table `dashboard` ADD COLUMN `is_folder` INTEGER NOT NULL DEFAULT 0;
alter table `annotation` ADD COLUMN `epoch_end` INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX `UQE_dashboard_org_id_uid` ON `dashboard` (`org_id`,`uid`);
CREATE INDEX `IDX_annotation_org_id_epoch_end_epoch` ON `annotation` (`org_id`,`epoch_end`,`epoch`);
