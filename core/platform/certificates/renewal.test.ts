import { X509Certificate } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { belongTogether, parseCertificates } from './pem.ts';
import { type CertificateState, renewCertificates } from './renewal.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.parse('2026-01-01T00:00:00Z');
const hosts = ['rukpak-webhook-service.rukpak-system.svc', 'localhost', '127.0.0.1'];

let fresh: CertificateState;
beforeAll(async () => {
  fresh = await renewCertificates(undefined, hosts, start);
});

function servingOf({ serving }: CertificateState): X509Certificate {
  return new X509Certificate(serving.certificate);
}

function isTrusted(state: CertificateState, serving = servingOf(state)): boolean {
  const trusted = parseCertificates(state.caBundle);
  return trusted.some((ca) => serving.checkIssued(ca) && serving.verify(ca.publicKey));
}

test('a fresh state serves every host with an elliptic key, trusted by its own authority', () => {
  const serving = servingOf(fresh);
  expect(serving.checkHost('localhost')).toBe('localhost');
  expect(serving.checkHost(hosts[0]!)).toBe(hosts[0]);
  expect(serving.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(serving.checkHost('example.com')).toBeUndefined();
  expect(serving.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  expect(serving.ca).toBe(false);
  expect(parseCertificates(fresh.caBundle).map(({ ca }) => ca)).toEqual([true]);
  expect(belongTogether(fresh.serving)).toBe(true);
  expect(isTrusted(fresh)).toBe(true);
});

test('authorities of the same moment have different names', async () => {
  const other = await renewCertificates(undefined, hosts, start);
  const [one, two] = parseCertificates(fresh.caBundle + other.caBundle);
  expect(one?.subject).not.toBe(two?.subject);
});

test('nothing changes while nothing is due', async () => {
  expect(await renewCertificates(fresh, hosts, start)).toBe(fresh);
  expect(await renewCertificates(fresh, hosts, start + 59 * day)).toBe(fresh);
});

test('the serving certificate is renewed a month before it expires, by the same authority', async () => {
  const renewed = await renewCertificates(fresh, hosts, start + 61 * day);
  expect(renewed.caBundle).toBe(fresh.caBundle);
  expect(renewed.serving).not.toEqual(fresh.serving);
  expect(isTrusted(fresh, servingOf(renewed))).toBe(true);
});

test('a new host is served at once', async () => {
  const renewed = await renewCertificates(fresh, [...hosts, '10.0.0.1'], start + 1);
  expect(servingOf(renewed).checkIP('10.0.0.1')).toBe('10.0.0.1');
});

test('a new host joins those of the present certificate, until it is renewed', async () => {
  const renewed = await renewCertificates(fresh, ['new.example.com'], start + 1);
  expect(servingOf(renewed).checkHost('localhost')).toBe('localhost');
  expect(servingOf(renewed).checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(servingOf(renewed).checkHost('new.example.com')).toBe('new.example.com');
  const later = await renewCertificates(renewed, ['new.example.com'], start + 61 * day);
  expect(servingOf(later).subjectAltName).toBe('DNS:new.example.com');
});

test('hosts of others are bounded', async () => {
  let state = fresh;
  for (let group = 0; group < 3; group += 1) {
    const more = Array.from({ length: 40 }, (_, index) => `h${group}-${index}.example.com`);
    state = await renewCertificates(state, more, start + 1);
  }
  expect(servingOf(state).checkHost('h2-39.example.com')).toBe('h2-39.example.com');
  expect(servingOf(state).subjectAltName?.split(', ')).toHaveLength(64);
});

test('a new authority is published an hour before it signs, and the old one stays until it expires', async () => {
  let state = fresh;
  for (const at of [61, 122, 183, 244]) {
    state = await renewCertificates(state, hosts, start + at * day);
  }
  const before = state;
  const due = start + 246 * day;
  const published = await renewCertificates(before, hosts, due);
  expect(parseCertificates(published.caBundle)).toHaveLength(2);
  expect(published.serving).toEqual(before.serving);
  expect(await renewCertificates(published, hosts, due + hour - 1)).toBe(published);

  const switched = await renewCertificates(published, hosts, due + hour);
  expect(switched.caBundle).toBe(published.caBundle);
  // A replica that has not seen the switch yet is trusted still; clients of the old bundle are not lost.
  expect(isTrusted(before, servingOf(switched))).toBe(false);
  expect(isTrusted(switched, servingOf(before))).toBe(true);
  expect(isTrusted(switched)).toBe(true);
  expect(await renewCertificates(switched, hosts, due + 2 * hour)).toBe(switched);

  const later = await renewCertificates(switched, hosts, start + 366 * day);
  expect(parseCertificates(later.caBundle)).toHaveLength(1);
  expect(isTrusted(later)).toBe(true);
});

test('after a long sleep everything is made anew', async () => {
  const late = await renewCertificates(fresh, hosts, start + 1000 * day);
  expect(parseCertificates(late.caBundle)).toHaveLength(1);
  expect(late.caBundle).not.toBe(fresh.caBundle);
  expect(isTrusted(late)).toBe(true);
});

test.each<[what: string, damage: Partial<CertificateState>]>([
  ['no key of the authority', { caKey: 'not a key' }],
  ['no certificate', { serving: { certificate: 'x', privateKey: 'y' } }],
  ['no authority', { caBundle: 'nothing' }],
  [
    'a damaged authority',
    { caBundle: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
  ],
])('a state with %s is made whole', async (_what, damage) => {
  const whole = await renewCertificates({ ...fresh, ...damage }, hosts, start + 2 * hour);
  const settled = await renewCertificates(whole, hosts, start + 4 * hour);
  expect(belongTogether(settled.serving)).toBe(true);
  expect(isTrusted(settled)).toBe(true);
  expect(await renewCertificates(settled, hosts, start + 5 * hour)).toBe(settled);
});

test('a certificate that the key does not match is replaced', async () => {
  const other = await renewCertificates(undefined, hosts, start);
  const serving = { ...fresh.serving, privateKey: other.serving.privateKey };
  const whole = await renewCertificates({ ...fresh, serving }, hosts, start);
  expect(belongTogether(whole.serving)).toBe(true);
});
