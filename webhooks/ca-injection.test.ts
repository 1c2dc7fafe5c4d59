import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../api/meta.ts';
import { eventually } from '../test/helpers/eventually.ts';
import { ManualClock } from '../test/helpers/manual-clock.ts';
import { ObjectTracker } from '../test/helpers/object-tracker.ts';
import { silentLogger } from '../test/helpers/silent-logger.ts';
import { createCABundleInjection } from './ca-injection.ts';

const name = 'rukpak-validating-webhook-configuration';
let cluster: ObjectTracker;

beforeEach(() => {
  cluster = new ObjectTracker();
});

function aConfiguration(caBundles: readonly (string | undefined)[], metadata: object = {}) {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name, ...metadata },
    webhooks: caBundles.map((caBundle, index) => ({
      name: `v${index}.core.rukpak.io`,
      clientConfig: { url: 'https://127.0.0.1:1/x', ...(caBundle && { caBundle }) },
    })),
  } satisfies KubernetesObject;
}

function injected(): readonly (string | undefined)[] {
  const { webhooks } = cluster.peek(name) as ReturnType<typeof aConfiguration>;
  return webhooks.map(({ clientConfig }) => clientConfig.caBundle);
}

function start() {
  const abort = new AbortController();
  const injection = createCABundleInjection({
    client: cluster,
    clock: new ManualClock(),
    logger: silentLogger,
    webhookConfiguration: name,
    kind: 'ValidatingWebhookConfiguration',
  });
  const running = injection.run(abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await running;
  });
  return injection;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const settle = () => new Promise(setImmediate);

test('every webhook gets the bundle, and the next one', async () => {
  cluster.put(name, aConfiguration([undefined, 'b2xk']));
  const injection = start();
  injection.setBundle('one');
  await eventually(() => expect(injected()).toEqual([base64('one'), base64('one')]));
  injection.setBundle('two');
  await eventually(() => expect(injected()).toEqual([base64('two'), base64('two')]));
});

test('a bundle that someone overwrites is put back, one that is right costs no request', async () => {
  cluster.put(name, aConfiguration([base64('one')]));
  start().setBundle('one');
  await settle();
  expect(cluster.requests).toEqual([]);
  cluster.put(name, aConfiguration(['bm9wZQ==']));
  await eventually(() => expect(injected()).toEqual([base64('one')]));
  expect(cluster.requests).toEqual(['patch']);
});

test('a configuration that is installed later is written then', async () => {
  start().setBundle('one');
  await settle();
  cluster.put(name, aConfiguration([undefined]));
  await eventually(() => expect(injected()).toEqual([base64('one')]));
});

test('webhooks that change places in between are not mixed up', async () => {
  cluster.put(name, aConfiguration([base64('one'), undefined]));
  cluster.beforeWrite = () => {
    cluster.beforeWrite = () => undefined;
    const { webhooks, ...rest } = aConfiguration([base64('one'), undefined]);
    cluster.put(name, { ...rest, webhooks: webhooks.toReversed() });
  };
  start().setBundle('one');
  await eventually(() => expect(injected()).toEqual([base64('one'), base64('one')]));
});

test('it is ready when the bundle is in the configuration, if there is one', async () => {
  cluster.put(name, aConfiguration([undefined]));
  const injection = start();
  expect(() => injection.checkInjected()).toThrow(
    `the CA bundle is not in ValidatingWebhookConfiguration ${name} yet`,
  );
  injection.setBundle('one');
  await eventually(() => injection.checkInjected());
  expect(injected()).toEqual([base64('one')]);
});

test('without a configuration nothing is waited for', async () => {
  const injection = start();
  injection.setBundle('one');
  await eventually(() => injection.checkInjected());
});

test('a configuration of cert-manager is left alone', async () => {
  const annotations = { 'cert-manager.io/inject-ca-from': 'rukpak-system/x' };
  cluster.put(name, aConfiguration(['b2xk'], { annotations }));
  start().setBundle('one');
  await settle();
  expect(injected()).toEqual(['b2xk']);
});
