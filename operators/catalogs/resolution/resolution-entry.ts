import { errorMessage } from '../../../core/errors.ts';
import { type ResolutionJob, resolveStored } from './resolution-job.ts';

/** Program of a process that resolves packages: each job comes by message, and so does its answer. */
process.on('message', (job: ResolutionJob) => {
  resolveStored(job)
    .then((answer) => ({ answer }))
    .catch((error: unknown) => ({ error: errorMessage(error) }))
    .then((message) => process.send?.(message))
    .catch(() => process.exit(1));
});
// The manager has ended: nobody waits for answers.
process.once('disconnect', () => process.exit());
