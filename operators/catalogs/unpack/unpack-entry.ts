import { errorMessage } from '../../../core/errors.ts';
import { type UnpackJob, unpackCatalog } from './unpack-catalog.ts';

/** Program of a process that unpacks one catalog: the job comes by message, and so does the answer. */
process.once('message', (job: UnpackJob) => {
  const { signal } = new AbortController();
  unpackCatalog(job, signal)
    .then((problem) => ({ problem }))
    .catch((error: unknown) => ({ error: errorMessage(error) }))
    .then((answer) => process.send?.(answer, () => process.disconnect()))
    .catch(() => process.exit(1));
});
// The manager has ended: nobody waits for the answer.
process.once('disconnect', () => process.exit());
