/**
 * Threads for files, compression and host names. The system's resolver blocks one for each name, and
 * with Node's four only two names can be resolved at a time. Import it before anything uses one:
 * libuv reads the variable at the first use.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16';
