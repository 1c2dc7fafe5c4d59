import type { X509Certificate } from 'node:crypto';
import { listOf } from '../../../api/json-fields.ts';
import { parseCertificates } from '../../../core/platform/certificates/index.ts';
import { createSecretReader } from '../../../core/platform/kube/index.ts';
import { type Check, crdNamespace, failed, ok, skipped, type VerifyContext } from './check.ts';
import { bundleOf, expectedConfigurations, liveConfiguration } from './webhooks.ts';

interface CertificateSecret {
  readonly namespace: string;
  readonly name: string;
  /** The Service that uses it; undefined for a CA. */
  readonly service?: string;
  readonly certificate: string;
  readonly authorities: string;
}

const renew = 'delete the Secret: the webhooks process or cert-manager creates it again';

/** Checks the Secrets with serving certificates, and whether the API server trusts them. */
export async function certificateChecks(context: VerifyContext): Promise<readonly Check[]> {
  const secrets = await readSecrets(context);
  if (secrets.length === 0) {
    return [skipped('certificates', `no Secret with one in namespace ${context.systemNamespace}`)];
  }
  return [
    ...secrets.map((secret) => secretCheck(secret, Date.now())),
    ...(await trustChecks(context, secrets)),
  ];
}

async function readSecrets(context: VerifyContext): Promise<readonly CertificateSecret[]> {
  const { cluster, signal, systemNamespace } = context;
  const found: CertificateSecret[] = [];
  for (const place of placesOf(systemNamespace)) {
    const secret = await createSecretReader(cluster.client, place.namespace).read(
      place.name,
      signal,
    );
    const text = (key: string): string => Buffer.from(secret?.data.get(key) ?? []).toString('utf8');
    if (secret === undefined) continue;
    found.push({ ...place, certificate: text('tls.crt'), authorities: text('ca.crt') });
  }
  return found;
}

/** The Secrets' names in both overlays: core's own certificates, and those of cert-manager. */
function placesOf(
  system: string,
): readonly Pick<CertificateSecret, 'namespace' | 'name' | 'service'>[] {
  const [webhooks, crds] = ['rukpak-webhook-service', 'crd-validation-webhook'];
  return [
    { namespace: system, name: 'rukpak-ca' },
    { namespace: system, name: 'core-cert', service: 'core' },
    { namespace: system, name: 'rukpak-webhook-serving-certificate', service: webhooks },
    { namespace: system, name: 'rukpak-webhook-certificate', service: webhooks },
    { namespace: crdNamespace, name: 'crd-validation-webhook-serving-certificate', service: crds },
    { namespace: crdNamespace, name: 'crd-validation-webhook-certificate', service: crds },
  ];
}

function secretCheck({ namespace, name, service, ...pem }: CertificateSecret, now: number): Check {
  const host = service === undefined ? {} : { host: `${service}.${namespace}.svc` };
  const { state, message } = judgeCertificate({ ...pem, ...host }, now);
  const subject = `Secret ${namespace}/${name}`;
  return { subject, state, message, ...(state === 'ok' ? {} : { fix: renew }) };
}

async function trustChecks(
  context: VerifyContext,
  secrets: readonly CertificateSecret[],
): Promise<readonly Check[]> {
  const { cluster, signal, systemNamespace } = context;
  const checks: Check[] = [];
  for (const expected of expectedConfigurations(systemNamespace)) {
    const { name = '' } = expected.metadata;
    const live = await liveConfiguration(expected, cluster, signal);
    const [webhook] = listOf(live?.['webhooks']);
    const bundle = bundleOf(webhook);
    // Another check reports a missing bundle.
    if (bundle !== '') checks.push(trustCheck(name, bundle, secrets));
  }
  return checks;
}

/** Outside the cluster one process answers for CRDs too, with one certificate for all webhooks. */
function trustCheck(name: string, bundle: string, secrets: readonly CertificateSecret[]): Check {
  const subject = `caBundle of ${name}`;
  const ofCrds = secrets.filter(({ namespace }) => namespace === crdNamespace);
  const ofBundles = secrets.filter(({ service }) => service === 'rukpak-webhook-service');
  const serving = name.startsWith('crd-') && ofCrds.length > 0 ? ofCrds : ofBundles;
  if (serving.length === 0) return skipped(subject, 'no Secret to compare it with');
  const trusted = serving.find(({ certificate }) => isSignedBy(certificate, bundle));
  const names = serving.map((secret) => `${secret.namespace}/${secret.name}`).join(', ');
  return trusted === undefined
    ? failed(
        subject,
        `does not trust the certificate in Secret ${names}`,
        'restart the webhooks process, which writes it; with cert-manager see its cainjector',
      )
    : ok(subject, `trusts Secret ${trusted.namespace}/${trusted.name}`);
}

/** A serving certificate in a Secret; PEM. */
interface ServingCertificate {
  readonly certificate: string;
  /** Its CAs. */
  readonly authorities: string;
  /** Host name that it must be valid for; undefined for a CA. */
  readonly host?: string;
}

const day = 24 * 3_600_000;
/** Core and cert-manager renew earlier than that. */
const soon = 7 * day;

interface CertificateVerdict {
  readonly state: 'ok' | 'warning' | 'failed';
  readonly message: string;
}

/** Judges a certificate and its CAs. `now` is in milliseconds. Pure. */
export function judgeCertificate(
  { certificate, authorities, host }: ServingCertificate,
  now: number,
): CertificateVerdict {
  const [leaf] = parseCertificates(certificate);
  if (leaf === undefined) return { state: 'failed', message: 'has no certificate in tls.crt' };
  const problem =
    timeProblem(leaf, now) ?? hostProblem(leaf, host) ?? issuerProblem(leaf, authorities);
  if (problem !== undefined) return { state: 'failed', message: problem };
  const days = Math.floor((leaf.validToDate.getTime() - now) / day);
  const state = leaf.validToDate.getTime() - now < soon ? 'warning' : 'ok';
  return {
    state,
    message: `valid for ${days} more days${host === undefined ? '' : `, for ${host}`}`,
  };
}

/** Whether one of the CAs in a PEM bundle has signed the certificate. */
export function isSignedBy(certificate: string, bundle: string): boolean {
  const [leaf] = parseCertificates(certificate);
  return leaf !== undefined && issuerProblem(leaf, bundle) === undefined;
}

function timeProblem(
  { validFromDate, validToDate }: X509Certificate,
  now: number,
): string | undefined {
  if (validToDate.getTime() <= now) return `expired at ${validToDate.toISOString()}`;
  return validFromDate.getTime() > now
    ? `is valid from ${validFromDate.toISOString()} only: see the clocks`
    : undefined;
}

function hostProblem(leaf: X509Certificate, host: string | undefined): string | undefined {
  if (host === undefined || leaf.checkHost(host) !== undefined) return undefined;
  return `is not for ${host}, but for ${leaf.subjectAltName ?? 'no host'}`;
}

function issuerProblem(leaf: X509Certificate, authorities: string): string | undefined {
  const signed = parseCertificates(authorities).some(
    (authority) => leaf.checkIssued(authority) && leaf.verify(authority.publicKey),
  );
  return signed ? undefined : 'is signed by none of the authorities that are to be trusted';
}
