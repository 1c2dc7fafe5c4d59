import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { renewCertificates } from '../../core/platform/certificates/renewal.ts';
import { aborted } from '../../core/platform/clock.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { workerPorts } from '../../test/helpers/worker-ports.ts';
import { allowed } from '../../webhooks/review.ts';
import { serveWebhooks } from './serve-webhooks.ts';

test('a server that stops answers reviews for a while, and is not ready', async () => {
  const certificates = await renewCertificates(undefined, ['127.0.0.1'], Date.now());
  const [port = 0, health = 0] = await workerPorts(2);
  const clock = new ManualClock();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const listening = Promise.withResolvers<void>();
  const running = serveWebhooks(
    {
      bindAddress: `127.0.0.1:${port}`,
      healthProbeBindAddress: `127.0.0.1:${health}`,
      metricsBindAddress: '0',
      shutdownDelayDuration: 5_000,
      certificates: {
        first: async () => certificates.serving,
        follow: (_, signal) => aborted(signal),
        checkTrusted: () => undefined,
      },
      routes: new Map([['/validate', () => allowed]]),
      runnables: [],
      clock,
      logger: silentLogger,
      onListening: () => listening.resolve(),
    },
    stop.signal,
  );
  await listening.promise;
  const readiness = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${health}/readyz`);
    return await response.text();
  };
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const kept = { port, ca: certificates.caBundle, agent };
  expect(await readiness()).toBe('ok');
  expect(await review(kept)).toEqual({ code: 200, connection: 'keep-alive' });
  stop.abort();
  expect(await readiness()).toBe('[-]shutdown failed: the process stops\n');
  clock.advance(4_999);
  // The next request of this client goes to another replica.
  expect(await review(kept)).toEqual({ code: 200, connection: 'close' });
  expect(await review({ ...kept, agent: false })).toMatchObject({ code: 200 });
  clock.advance(1);
  await running;
  await expect(review(kept)).rejects.toThrow('ECONNREFUSED');
});

interface Client {
  readonly port: number;
  readonly ca: string;
  readonly agent: Agent | false;
}

async function review(client: Client): Promise<object> {
  const request = httpsRequest({
    ...client,
    host: '127.0.0.1',
    path: '/validate',
    method: 'POST',
  });
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
  request.end(JSON.stringify({ ...review, request: { uid: 'u', operation: 'CREATE' } }));
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  return { code: response.statusCode, connection: response.headers.connection };
}
