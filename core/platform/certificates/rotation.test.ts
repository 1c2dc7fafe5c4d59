import { X509Certificate } from 'node:crypto';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { ObjectTracker } from '../../../test/helpers/object-tracker.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { parseCertificates } from './index.ts';
import { type CertificateState, renewCertificates } from './renewal.ts';
import { createCertificateRotation } from './rotation.ts';

const name = 'rukpak-webhook-certificate';
const day = 86_400_000;
let cluster: ObjectTracker;
let clock: ManualClock;
let abort: AbortController;

beforeEach(() => {
  cluster = new ObjectTracker();
  clock = new ManualClock();
  abort = new AbortController();
});

function aReplica(...hosts: readonly string[]) {
  return createCertificateRotation({
    client: cluster,
    clock,
    logger: silentLogger,
    secret: { namespace: 'rukpak-system', name },
    hosts: hosts.length === 0 ? ['localhost'] : hosts,
  });
}

/** Starts a replica; returns what it has been told so far. */
function run(replica: ReturnType<typeof aReplica>): CertificateState[] {
  const told: CertificateState[] = [];
  const running = replica.run((state) => told.push(state), abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await running;
  });
  return told;
}

test('two replicas and a restart share one Secret', async () => {
  const [a, b] = await Promise.all([
    aReplica().ensure(abort.signal),
    aReplica().ensure(abort.signal),
  ]);
  expect(a).toEqual(b);
  expect(await aReplica().ensure(abort.signal)).toEqual(a);
  expect(cluster.peek(name)).toMatchObject({
    type: 'kubernetes.io/tls',
    metadata: { namespace: 'rukpak-system' },
    data: { 'ca.crt': Buffer.from(a.caBundle).toString('base64') },
  });
});

test('a write that comes too late takes what the quicker one wrote', async () => {
  const quicker = await aReplica().ensure(abort.signal);
  const secret = cluster.peek(name)!;
  cluster.remove(name);
  cluster.beforeWrite = () => {
    cluster.beforeWrite = () => undefined;
    cluster.put(name, secret);
  };
  expect(await aReplica().ensure(abort.signal)).toEqual(quicker);
});

test('while nothing is due a running replica sends no request', async () => {
  const replica = aReplica();
  const state = await replica.ensure(abort.signal);
  cluster.requests.length = 0;
  const told = run(replica);
  await eventually(() => expect(told).toEqual([state]));
  for (let hours = 0; hours < 48; hours += 1) {
    clock.advance(3_600_000);
    await new Promise(setImmediate);
  }
  expect(cluster.requests).toEqual([]);
  expect(told).toHaveLength(1);
});

test('a running replica renews what is due and is told of it', async () => {
  const replica = aReplica();
  const state = await replica.ensure(abort.signal);
  const told = run(replica);
  await eventually(() => expect(told).toHaveLength(1));
  clock.advance(61 * day);
  await eventually(() => expect(told).toHaveLength(2));
  expect(told[1]?.caBundle).toBe(state.caBundle);
  expect(told[1]?.serving).not.toEqual(state.serving);
});

test('a replica is told of what another one renewed', async () => {
  await aReplica().ensure(abort.signal);
  const told = run(aReplica());
  await eventually(() => expect(told).toHaveLength(1));
  const other = aReplica();
  clock.advance(70 * day);
  const renewed = await other.ensure(abort.signal);
  await eventually(() => expect(told.at(-1)).toEqual(renewed));
});

test('a deleted Secret is put back as it was', async () => {
  const replica = aReplica();
  const state = await replica.ensure(abort.signal);
  const told = run(replica);
  await eventually(() => expect(told).toHaveLength(1));
  cluster.remove(name);
  await eventually(() => expect(cluster.peek(name)).toBeDefined());
  expect(await aReplica().ensure(abort.signal)).toEqual(state);
});

test('a damaged Secret is put right, its other keys and labels stay', async () => {
  cluster.put(name, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'rukpak-system', labels: { app: 'x' } },
    data: { 'ca.crt': 42, 'ca.key': '****', 'tls.crt': '', note: 'a2VlcA==' },
  });
  const state = await aReplica().ensure(abort.signal);
  expect(parseCertificates(state.caBundle)).toHaveLength(1);
  expect(cluster.peek(name)).toMatchObject({
    metadata: { labels: { app: 'x' } },
    data: { note: 'a2VlcA==' },
  });
});

test('a Secret of cert-manager is left alone, with the way out', async () => {
  const annotations = { 'cert-manager.io/certificate-name': name };
  cluster.put(name, { apiVersion: 'v1', kind: 'Secret', metadata: { name, annotations } });
  await expect(aReplica().ensure(abort.signal)).rejects.toThrow('--cert-dir');
  expect(cluster.requests).toEqual(['get']);
});

/** Takes longer than a replica that has something to issue and to write. */
async function settled(): Promise<void> {
  for (let issued = 0; issued < 5; issued += 1) {
    await renewCertificates(undefined, ['localhost'], clock.now());
    await new Promise(setImmediate);
  }
}

test('processes for different hosts agree on one certificate for all of them', async () => {
  const [one, two] = [aReplica('one.example.com'), aReplica('10.0.0.2')];
  await one.ensure(abort.signal);
  const told = [run(one), run(two)];
  await two.ensure(abort.signal);
  await eventually(() => {
    const [a, b] = told.map((states) => states.at(-1)?.serving);
    expect(a).toEqual(b);
    const serving = new X509Certificate(a?.certificate ?? '');
    expect(serving.subjectAltName).toContain('one.example.com');
    expect(serving.checkIP('10.0.0.2')).toBe('10.0.0.2');
  });
  await settled();
  const written = cluster.requests.filter((request) => request === 'update').length;
  expect(written).toBeLessThanOrEqual(2);
  clock.advance(day);
  await settled();
  expect(cluster.requests.filter((request) => request === 'update')).toHaveLength(written);
});

test('a certificate that is for others only is replaced now and then, not at once', async () => {
  // No certificate is ever for this name.
  const replica = aReplica('ö.example.com');
  await replica.ensure(abort.signal);
  const told = run(replica);
  await eventually(() => expect(told).toHaveLength(1));
  const updates = () => cluster.requests.filter((request) => request === 'update').length;
  await settled();
  expect(updates()).toBe(1);
  clock.advance(10 * 60_000);
  await eventually(() => expect(updates()).toBe(2));
  await settled();
  expect(updates()).toBe(2);
});

test('a cluster that refuses is asked again after a pause', async () => {
  const replica = aReplica();
  await replica.ensure(abort.signal);
  const told = run(replica);
  await eventually(() => expect(told).toHaveLength(1));
  let failures = 0;
  cluster.beforeWrite = () => {
    failures += 1;
    if (failures <= 2) throw new Error('etcd has gone fishing');
  };
  clock.advance(61 * day);
  await eventually(() => expect(failures).toBe(1));
  await new Promise(setImmediate);
  clock.advance(60_000);
  await eventually(() => expect(failures).toBe(2));
  await new Promise(setImmediate);
  clock.advance(60_000);
  await eventually(() => expect(told).toHaveLength(2));
});
