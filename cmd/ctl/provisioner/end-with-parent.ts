/**
 * Loaded into the manager of `provisioner dev`: it ends when that one has ended, however it did.
 * A manager that stayed behind would serve the class as it was.
 */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The channel alone is no reason to go on.
process.channel?.unref();
