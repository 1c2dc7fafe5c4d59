/**
 * Loaded into the manager of `provisioner dev`, which must end with its parent, however that ends.
 * A remaining manager would go on to serve the old class.
 */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The channel alone must not keep the process alive.
process.channel?.unref();
