import { openContentServer } from '../content-server.ts';
import { type Check, failed, ok, skipped, type VerifyContext } from './check.ts';
import { liveObject, serviceResource } from './live-object.ts';

const service = 'core';

/** Whether the content server is reached, and keeps strangers out. */
export async function contentChecks(context: VerifyContext): Promise<readonly Check[]> {
  const { cluster, server, signal, systemNamespace: namespace } = context;
  const subject = 'content server';
  const key = { namespace, name: service };
  if (
    server.server === undefined &&
    (await liveObject(context, serviceResource, key)) === undefined
  ) {
    return [
      skipped(
        subject,
        `no Service ${service} in namespace ${namespace}: say with --server where it is`,
      ),
    ];
  }
  const opened = await openContentServer(
    cluster,
    { ...server, namespace, service },
    { caller: {}, signal },
  );
  try {
    const path = '/bundles/rukpakctl-verify.tgz';
    const { statusCode, body } = await opened.request({ method: 'GET', path, signal });
    await body.dump();
    return [answerCheck(subject, statusCode)];
  } finally {
    await opened.close();
  }
}

function answerCheck(subject: string, statusCode: number): Check {
  return statusCode === 401
    ? ok(subject, 'answers, and asks strangers who they are')
    : failed(
        subject,
        `answers a stranger with HTTP status ${statusCode} instead of 401`,
        'see that it is the content server that is asked, and nothing in front of it',
      );
}
