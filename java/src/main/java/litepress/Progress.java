package litepress;

/**
 * Progress of a writer.
 *
 * @param rows rows that were taken from the program
 * @param bytes bytes of pages that were handed to the file
 * @param phase "rows of metric", "index metric_name"
 */
public record Progress(long rows, long bytes, String phase) {}
