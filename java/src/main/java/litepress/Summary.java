package litepress;

/**
 * Figures of a finished database.
 *
 * @param rows rows of all tables; rows that were added to a database that existed
 * @param bytes bytes of the file
 * @param pages pages of the file
 */
public record Summary(long rows, long bytes, long pages) {}
