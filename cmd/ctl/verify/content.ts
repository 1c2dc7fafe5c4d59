import { errorMessage } from '../../../core/errors.ts';
import { liveObject } from '../../../core/platform/kube/index.ts';
import { openContentServer } from '../content-server.ts';
import { reachableServer } from '../reachable-server.ts';
import { type Check, failed, ok, skipped, type VerifyContext } from './check.ts';
import { serviceResource } from './resources.ts';

const subject = 'content server';
const service = 'core';

/** Whether the content server is reached, and keeps strangers out. */
export async function contentChecks(given: VerifyContext): Promise<readonly Check[]> {
  const { cluster, signal, systemNamespace: namespace } = given;
  const server = await reachableServer(cluster, given.server);
  const context = { ...given, server };
  if (server.server === undefined) {
    const target = { resource: serviceResource, key: { namespace, name: service } };
    if ((await liveObject(cluster.client, target, signal)) === undefined) {
      const message = `no Service ${service} in namespace ${namespace}: say with --server where it is`;
      return [skipped(subject, message)];
    }
  }
  try {
    return [answerCheck(await statusForStranger(context))];
  } catch (error) {
    signal.throwIfAborted();
    const fix =
      'see that core runs, or name the server and its authority with --server and --ca-file';
    return [failed(subject, errorMessage(error), fix)];
  }
}

async function statusForStranger(context: VerifyContext): Promise<number> {
  const { cluster, server, signal, systemNamespace: namespace } = context;
  const place = { ...server, namespace, service };
  const opened = await openContentServer(cluster, place, { caller: {}, signal });
  try {
    const path = '/bundles/rukpakctl-verify.tgz';
    const { statusCode, body } = await opened.request({ method: 'GET', path, signal });
    await body.dump();
    return statusCode;
  } finally {
    await opened.close();
  }
}

function answerCheck(statusCode: number): Check {
  if (statusCode === 401) return ok(subject, 'answers, and asks strangers who they are');
  return failed(
    subject,
    `answers a stranger with HTTP status ${statusCode} instead of 401`,
    'see that it is the content server that is asked, and nothing in front of it',
  );
}
