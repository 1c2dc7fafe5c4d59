import { X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import { certifiedService, hookClientConfig } from '../../../test/helpers/certified-service.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { parseCertificates } from '../../platform/certificates/index.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { defaultCertificates } from './certificate-options.ts';
import { Certificates, type CertificatesOptions } from './certificates.ts';

const { signal } = new AbortController();
const minute = 60_000;
const day = 24 * 60 * minute;
const deployment = aStoredDeployment();

const service = certifiedService('hook-cert');
const trust = { [annotation.injectCaFrom]: 'app/hook-cert' };
const configuration: KubernetesObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'hook', annotations: trust },
  webhooks: [{ name: 'a.example.com', clientConfig: hookClientConfig }],
};
const objects = [service, configuration];

let client: FakeKubeClient;
let clock: ManualClock;
let events: EventList;
let certificates: Certificates;

beforeEach(() => {
  client = new FakeKubeClient();
  clock = new ManualClock();
  events = new EventList();
  certificates = aProcess();
});

function aProcess(options: Partial<CertificatesOptions> = {}): Certificates {
  return new Certificates({
    ...defaultCertificates,
    client,
    clock,
    events,
    discovery: { apiVersions: async () => [], invalidate: () => undefined },
    systemNamespace: 'rukpak-system',
    ...options,
  });
}

/** One reconcile's part of certificates; the Secret is in the cluster afterwards. */
async function reconcile(of = deployment, list = objects): Promise<View> {
  const certified = await certificates.certify({ deployment: of, objects: list, signal });
  const [secret] = certified.objects.filter(({ kind }) => kind === 'Secret');
  const view = viewOf(certified.objects);
  const labels = { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: 'demo' };
  if (secret) client.put({ ...secret, metadata: { ...secret.metadata, labels } });
  const next = certificates.applied({ deployment: of, objects: list });
  return { ...view, next };
}

interface View {
  readonly serving: X509Certificate;
  readonly next: number | undefined;
  readonly data: Record<string, string>;
  /** The CAs of the webhook configuration. */
  readonly trusted: readonly X509Certificate[];
}

function viewOf(list: readonly KubernetesObject[]): View {
  const secret = list.find(({ kind }) => kind === 'Secret');
  const data = Object.fromEntries(
    Object.entries((secret?.['data'] ?? {}) as Record<string, string>).map(([key, value]) => [
      key,
      Buffer.from(value, 'base64').toString(),
    ]),
  );
  const holder = list.find(({ metadata }) => metadata.annotations?.[annotation.injectCaFrom]);
  const [webhook] = (holder?.['webhooks'] ?? []) as readonly (typeof configuration & {
    clientConfig: { caBundle?: string };
  })[];
  const bundle = Buffer.from(webhook?.clientConfig.caBundle ?? '', 'base64').toString();
  const serving = new X509Certificate(data['tls.crt'] ?? '');
  return { serving, data, trusted: parseCertificates(bundle), next: undefined };
}

function isTrusted({ serving, trusted }: View): boolean {
  return trusted.some((ca) => serving.checkIssued(ca) && serving.verify(ca.publicKey));
}

test('objects without annotations stay as they are, and cost no request', async () => {
  const plain = [{ ...service, metadata: { name: 'hook' } }];
  const certified = await certificates.certify({ deployment, objects: plain, signal });
  expect(certified.objects).toBe(plain);
  expect(client.calls).toEqual([]);
});

test('what would be too large with trust in it is refused before it is sent', async () => {
  const webhooks = Array.from({ length: 6_000 }, () => ({ clientConfig: hookClientConfig }));
  const list = [service, { ...configuration, webhooks }];
  await expect(certificates.certify({ deployment, objects: list, signal })).rejects.toThrow(
    /^ValidatingWebhookConfiguration "hook" has \d+ bytes as JSON, more than the 3145728 that/,
  );
});

test('a Secret is made, and trusted', async () => {
  const view = await reconcile();
  expect(Object.keys(view.data)).toEqual(['tls.crt', 'tls.key', 'ca.crt']);
  for (const host of ['hook.app', 'hook.app.svc', 'hook.app.svc.cluster.local']) {
    expect(view.serving.checkHost(host)).toBeDefined();
  }
  expect(isTrusted(view)).toBe(true);
  expect(events.taken()).toEqual([
    'Normal CertificateIssued: Secret app/hook-cert has a new serving certificate, valid until 2026-04-01T00:00:00.000Z',
  ]);
});

test('while nothing is due the Secret is read once, and another process finds the same', async () => {
  const first = await reconcile();
  clock.advance(30 * day);
  expect((await reconcile()).data).toEqual(first.data);
  expect(client.calls).toEqual(['get']);
  certificates = aProcess();
  expect((await reconcile()).data).toEqual(first.data);
  expect(events.taken()).toHaveLength(1);
});

test('a deleted Secret is asked for as it was', async () => {
  const first = await reconcile();
  client.drop({ namespace: 'app', name: 'hook-cert' });
  expect((await reconcile()).data).toEqual(first.data);
});

test.each([
  ['belongs to somebody else', { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: 'x' }],
  ['belongs to nobody', {}],
])('what a Secret says that %s is not taken', async (_, labels) => {
  const theirs = await reconcile();
  const secret = client.peek({ namespace: 'app', name: 'hook-cert' })!;
  client.put({ ...secret, metadata: { ...secret.metadata, labels } });
  certificates = aProcess();
  expect((await reconcile()).data['tls.key']).not.toBe(theirs.data['tls.key']);
});

test('what the deployment itself has left behind is taken up', async () => {
  const left = await reconcile();
  const secret = client.peek({ namespace: 'app', name: 'hook-cert' })!;
  const annotations = { [annotation.leftBy]: 'demo' };
  client.put({ ...secret, metadata: { ...secret.metadata, labels: {}, annotations } });
  certificates = aProcess();
  expect((await reconcile()).data).toEqual(left.data);
});

test('a Secret that the deployment may not read may be there: it is read again', async () => {
  const first = await reconcile();
  certificates = aProcess();
  client.faults.get = [new ApiError(403, { reason: 'Forbidden' })];
  const unread = await certificates.certify({ deployment, objects, signal });
  expect(viewOf(unread.objects).data).not.toEqual(first.data);
  expect((await reconcile()).data).toEqual(first.data);
});

describe('rotation', () => {
  test('the next authority is trusted before its certificate is served, the old one after', async () => {
    const first = await reconcile();
    expect(first.next).toBe(clock.now() + 60 * day);
    clock.advance(60 * day);
    const second = await reconcile();
    expect(second.serving.raw).toEqual(first.serving.raw);
    expect(second.trusted).toHaveLength(2);
    expect(second.next).toBe(clock.now() + 5 * minute);
    clock.advance(5 * minute);
    const third = await reconcile();
    expect(third.serving.raw).not.toEqual(first.serving.raw);
    expect(third.data['tls.crt']).toBe(second.data['next.crt']);
    expect(third.trusted).toHaveLength(2);
    expect(isTrusted(third)).toBe(true);
    expect(isTrusted({ ...third, serving: first.serving })).toBe(true);
    expect(third.next).toBe(Date.parse(first.serving.validTo));
    clock.advance(30 * day);
    const fourth = await reconcile();
    expect(fourth.trusted).toHaveLength(1);
    expect(fourth.serving.raw).toEqual(third.serving.raw);
    expect(events.taken().map((text) => text.split(':')[0])).toEqual([
      'Normal CertificateIssued',
      'Normal CertificateRotated',
    ]);
  });

  test('nothing is served that was not applied completely', async () => {
    const first = await reconcile();
    clock.advance(60 * day);
    await certificates.certify({ deployment, objects, signal });
    clock.advance(day);
    const second = await reconcile();
    expect(second.serving.raw).toEqual(first.serving.raw);
    clock.advance(5 * minute);
    expect((await reconcile()).serving.raw).not.toEqual(first.serving.raw);
  });

  test('before a certificate expires the next one is served in any case', async () => {
    const first = await reconcile();
    clock.advance(60 * day);
    await certificates.certify({ deployment, objects, signal });
    clock.advance(23 * day);
    const last = await certificates.certify({ deployment, objects, signal });
    const view = viewOf(last.objects);
    expect(view.serving.raw).not.toEqual(first.serving.raw);
    expect(isTrusted(view)).toBe(true);
  });

  test('another process goes on where the one before it stopped, and waits its time', async () => {
    await reconcile();
    clock.advance(60 * day);
    const begun = await reconcile();
    clock.advance(4 * minute);
    certificates = aProcess();
    const taken = await reconcile();
    expect(taken.data).toEqual(begun.data);
    clock.advance(4 * minute);
    expect((await reconcile()).data).toEqual(begun.data);
    clock.advance(minute);
    expect((await reconcile()).data['tls.crt']).toBe(begun.data['next.crt']);
  });

  test('a clock that goes back a little changes nothing', async () => {
    await reconcile();
    clock.advance(60 * day);
    const begun = await reconcile();
    clock.advance(-10 * minute);
    expect((await reconcile()).data).toEqual(begun.data);
    clock.advance(15 * minute);
    const served = await reconcile();
    clock.advance(-10 * minute);
    expect((await reconcile()).data).toEqual(served.data);
  });

  test('a certificate that expired while no process ran is replaced at once', async () => {
    await reconcile();
    clock.advance(100 * day);
    certificates = aProcess();
    const view = await reconcile();
    expect(Date.parse(view.serving.validTo)).toBe(clock.now() + 90 * day);
    expect(view.trusted).toHaveLength(1);
    expect(isTrusted(view)).toBe(true);
  });

  test('an annotation asks for it, once for each value', async () => {
    const first = await reconcile();
    const annotations = { [annotation.rotateCertificates]: 'one' };
    const asked = aStoredDeployment({ metadata: { annotations } });
    expect((await reconcile(asked)).trusted).toHaveLength(2);
    certificates = aProcess();
    await reconcile(asked);
    clock.advance(5 * minute);
    const second = await reconcile(asked);
    expect(second.serving.raw).not.toEqual(first.serving.raw);
    clock.advance(day);
    expect((await reconcile(asked)).data).toEqual(second.data);
  });

  test('an annotation asks for everything anew, where a key has become known', async () => {
    const first = await reconcile();
    const annotations = { [annotation.rotateCertificates]: 'revoke-1' };
    const view = await reconcile(aStoredDeployment({ metadata: { annotations } }));
    expect(view.trusted).toHaveLength(1);
    expect(isTrusted(view)).toBe(true);
    expect(isTrusted({ ...view, serving: first.serving })).toBe(false);
    certificates = aProcess();
    expect(await reconcile(aStoredDeployment({ metadata: { annotations } }))).toMatchObject({
      data: view.data,
    });
  });

  test('another Service of the same Secret is served at once, and the old authority trusted', async () => {
    const first = await reconcile();
    const other = { ...service, metadata: { ...service.metadata, name: 'other' } };
    const view = await reconcile(deployment, [...objects, other]);
    expect(view.serving.checkHost('other.app.svc')).toBeDefined();
    expect(view.serving.checkHost('hook.app.svc')).toBeDefined();
    expect(isTrusted({ ...view, serving: first.serving })).toBe(true);
  });
});

test('metrics are told of what is in the cluster', async () => {
  await certificates.certify({ deployment, objects, signal });
  expect(certificates.served()).toEqual([]);
  const { data } = await reconcile();
  clock.advance(61 * day);
  await certificates.certify({ deployment, objects, signal });
  expect(certificates.served()).toEqual([['app/hook-cert', data['tls.crt']]]);
  certificates.applied({ deployment, objects: [] });
  expect(certificates.served()).toEqual([]);
});

describe('a plan', () => {
  test('has no certificate that would be made only for it', async () => {
    const foreseen = await certificates.foresee({ deployment, objects, signal });
    const [secret] = foreseen.filter(({ kind }) => kind === 'Secret');
    expect(secret?.['data']).toEqual({ 'tls.crt': '', 'tls.key': '', 'ca.crt': '' });
    expect(await aProcess().foresee({ deployment, objects, signal })).toEqual(foreseen);
    expect(JSON.stringify(foreseen)).not.toContain('caBundle');
  });

  test('has the certificates that there are, also while others are due', async () => {
    const { data } = await reconcile();
    clock.advance(61 * day);
    const foreseen = await aProcess().foresee({ deployment, objects, signal });
    expect(viewOf(foreseen).data).toEqual(data);
  });
});

test('a certificate of a clock that was ahead is replaced once the clock is right', async () => {
  const now = clock.now();
  clock.advance(30 * day);
  const ahead = await reconcile();
  clock.advance(-30 * day);
  const right = await reconcile();
  expect(right.serving.fingerprint).not.toBe(ahead.serving.fingerprint);
  expect(right.serving.validFromDate.getTime()).toBeLessThanOrEqual(now);
  expect(isTrusted(right)).toBe(true);
});

test('however often others are asked for, what is trusted still fits into a Secret', {
  tags: ['slow'],
}, async () => {
  let view = await reconcile();
  for (let request = 0; request < 25; request++) {
    const annotations = { [annotation.rotateCertificates]: `${request}` };
    const asking = aStoredDeployment({ metadata: { annotations } });
    await reconcile(asking);
    clock.advance(5 * minute);
    view = await reconcile(asking);
  }
  expect(isTrusted(view)).toBe(true);
  expect(view.trusted).toHaveLength(20);
});

describe('certificates of objects that are refused', () => {
  /** The Secret is for another Service in them. */
  const renamed = [{ ...service, metadata: { ...service.metadata, name: 'renamed' } }];

  async function refused(): Promise<void> {
    await certificates.certify({ deployment, objects: renamed, signal });
    certificates.refused(deployment);
  }

  test('leave the installed ones as they are, however often', async () => {
    const { data } = await reconcile();
    await refused();
    expect((await reconcile()).data).toEqual(data);
    await refused();
    expect((await reconcile()).data).toEqual(data);
    expect(client.calls).toEqual(['get']);
    expect(events.taken()).toHaveLength(1);
  });

  test('are made anew when the objects are accepted', async () => {
    await reconcile();
    await refused();
    const { serving } = await reconcile(deployment, renamed);
    expect(serving.checkHost('renamed.app.svc')).toBeDefined();
  });

  test('do not end a rotation', async () => {
    await reconcile();
    clock.advance(61 * day);
    const { data } = await reconcile();
    await refused();
    clock.advance(5 * minute);
    await refused();
    const next = await reconcile();
    expect(next.data['tls.crt']).not.toBe(data['tls.crt']);
    expect(isTrusted(next)).toBe(true);
  });
});
