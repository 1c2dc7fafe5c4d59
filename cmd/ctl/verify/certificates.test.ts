import { beforeAll, expect, test } from 'vitest';
import {
  issueCertificateAuthority,
  issueServingCertificate,
  type KeyPair,
} from '../../../core/platform/certificates/index.ts';
import { isSignedBy, judgeCertificate } from './certificates.ts';

const day = 24 * 3_600_000;
const now = Date.parse('2030-01-01T00:00:00Z');
const validity = { notBefore: now - day, notAfter: now + 30 * day };
const host = 'core.rukpak-system.svc';

let authority: KeyPair;
let stranger: KeyPair;
let certificate: string;
let authorities: string;

beforeAll(async () => {
  authority = await issueCertificateAuthority(validity);
  stranger = await issueCertificateAuthority(validity);
  const serving = await issueServingCertificate(authority, [host], validity);
  ({ certificate } = serving);
  authorities = authority.certificate;
});

test('a good certificate says how long it is good, and for whom', () => {
  expect(judgeCertificate({ certificate, authorities, host }, now)).toEqual({
    state: 'ok',
    message: `valid for 30 more days, for ${host}`,
  });
});

test('one that ends soon is a warning, one that has ended a failure', () => {
  const serving = { certificate, authorities, host };
  expect(judgeCertificate(serving, now + 26 * day)).toMatchObject({ state: 'warning' });
  expect(judgeCertificate(serving, now + 31 * day)).toEqual({
    state: 'failed',
    message: 'expired at 2030-01-31T00:00:00.000Z',
  });
  expect(judgeCertificate(serving, now - 2 * day).message).toContain('see the clocks');
});

test('one for another name, or of another authority, fails', () => {
  const other = judgeCertificate({ certificate, authorities, host: 'other.svc' }, now);
  expect(other).toEqual({ state: 'failed', message: `is not for other.svc, but for DNS:${host}` });
  const foreign = { certificate, authorities: stranger.certificate, host };
  expect(judgeCertificate(foreign, now)).toMatchObject({
    state: 'failed',
    message: 'is signed by none of the authorities that are to be trusted',
  });
  expect(isSignedBy(certificate, stranger.certificate + authorities)).toBe(true);
});

test('an authority is judged by itself; what is no certificate fails', () => {
  const own = { certificate: authorities, authorities };
  expect(judgeCertificate(own, now)).toEqual({ state: 'ok', message: 'valid for 30 more days' });
  const nothing = judgeCertificate({ certificate: 'x', authorities }, now);
  expect(nothing).toEqual({ state: 'failed', message: 'has no certificate in tls.crt' });
});
