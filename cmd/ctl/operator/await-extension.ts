import { TerminalError } from '../../../core/errors.ts';
import type { Resource } from '../../../core/platform/kube/index.ts';
import type { ExtensionProgress } from '../../../operators/client/index.ts';
import { pollUntil } from '../deployments/awaiting.ts';
import type { OperatorSession } from './session.ts';

interface AwaitedExtension {
  readonly resource: Resource;
  readonly name: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/**
 * Waits until the present spec of an Operator or ClusterExtension is installed and healthy, and
 * prints what changes meanwhile.
 * @throws TerminalError with the sentence of its condition when that fails, or after the timeout
 */
export async function awaitReady(
  { cluster: { client }, report, signal }: OperatorSession,
  { resource, name, timeout }: AwaitedExtension,
): Promise<ExtensionProgress> {
  const { extensionProgress } = await import('../../../operators/client/index.ts');
  const place = `${resource.kind} "${name}"`;
  let last = '';
  return await pollUntil(
    async () => {
      const found = extensionProgress(await client.get(resource, { name }, signal));
      const news = newsOf(found);
      if (news !== '' && news !== last) await report.line(`${place}: ${news}`);
      last = news;
      return found;
    },
    {
      isDone: ({ phase, reason, message }) => {
        if (phase === 'failed') throw new TerminalError(`${place}: ${reason}: ${message}`);
        return phase === 'ready';
      },
      late: ({ reason, message }, time) => {
        const why =
          reason === ''
            ? 'no process reconciles it: does "rukpak operators" run?'
            : `${reason}: ${message}`;
        return `${place} is not ready after ${time}: ${why}`;
      },
      timeout,
      signal,
    },
  );
}

/** The last line of a failure is the error. */
function newsOf({ phase, installed, reason, message }: ExtensionProgress): string {
  if (phase === 'failed') return '';
  if (phase === 'ready') return `${installed || 'its bundle'} is installed: ${reason}`;
  return message === '' ? 'waiting for the controller' : message;
}
