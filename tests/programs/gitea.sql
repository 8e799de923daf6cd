-- A forge, in the form of Gitea (xorm): backquotes, lower-case types, indexes named UQE_ and IDX_, statistics.
CREATE TABLE `version` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `version` INTEGER NULL);
CREATE TABLE `user` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `lower_name` TEXT NOT NULL, `name` TEXT NOT NULL, `email` TEXT NOT NULL, `passwd` TEXT NOT NULL, `type` INTEGER NULL, `created_unix` INTEGER NULL, `is_active` INTEGER NULL, `num_repos` INTEGER NULL);
CREATE TABLE `repository` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `owner_id` INTEGER NULL, `lower_name` TEXT NOT NULL, `name` TEXT NOT NULL, `description` TEXT NULL, `is_private` INTEGER NULL, `size` INTEGER DEFAULT 0 NOT NULL, `updated_unix` INTEGER NULL);
CREATE TABLE `issue` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `repo_id` INTEGER NULL, `index` INTEGER NULL, `poster_id` INTEGER NULL, `name` TEXT NULL, `content` TEXT NULL, `is_closed` INTEGER NULL, `deadline_unix` INTEGER NULL, `created_unix` INTEGER NULL);
CREATE TABLE `comment` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `type` INTEGER NULL, `poster_id` INTEGER NULL, `issue_id` INTEGER NULL, `content` TEXT NULL, `created_unix` INTEGER NULL);
CREATE TABLE `action` (`id` INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, `user_id` INTEGER NULL, `op_type` INTEGER NULL, `repo_id` INTEGER NULL, `is_deleted` INTEGER DEFAULT 0 NOT NULL, `created_unix` INTEGER NULL);
CREATE TABLE `session` (`key` TEXT PRIMARY KEY NOT NULL, `data` BLOB NULL, `expiry` INTEGER NULL);
CREATE UNIQUE INDEX `UQE_user_lower_name` ON `user` (`lower_name`);
CREATE UNIQUE INDEX `UQE_repository_s` ON `repository` (`owner_id`,`lower_name`);
CREATE UNIQUE INDEX `UQE_issue_repo_index` ON `issue` (`repo_id`,`index`);
CREATE INDEX `IDX_issue_updated` ON `issue` (`created_unix`);
CREATE INDEX `IDX_comment_issue_id` ON `comment` (`issue_id`);
CREATE INDEX `IDX_action_c_u_d` ON `action` (`created_unix`,`user_id`,`is_deleted`);
-- rows
ANALYZE;
