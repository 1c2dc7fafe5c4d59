import { createHash, createHmac } from 'node:crypto';
import { fieldAt, listOf, mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { digestOf, fieldsOf, isOwnEntry } from '../../apply/index.ts';
import { contentOf } from './applied-content.ts';
import type { Recipe } from './rendered-objects.ts';

export function isSecret({ apiVersion, kind }: KubernetesObject): boolean {
  return apiVersion === 'v1' && kind === 'Secret';
}

type Values = Readonly<Record<string, unknown>>;

/** In base64, as the API server stores them. */
function valuesIn(secret: KubernetesObject): Values {
  const texts = Object.entries(mapOf(secret['stringData'])).flatMap(([key, text]) =>
    typeof text === 'string' ? [[key, Buffer.from(text).toString('base64')] as const] : [],
  );
  return { ...mapOf(secret['data']), ...Object.fromEntries(texts) };
}

/** Keys that both Secrets have, with different values. */
function differingKeys(
  wanted: KubernetesObject,
  other: KubernetesObject | undefined,
): readonly string[] {
  const there = other === undefined ? {} : valuesIn(other);
  return Object.entries(valuesIn(wanted)).flatMap(([key, value]) =>
    there[key] !== undefined && there[key] !== value ? [key] : [],
  );
}

export interface SecretVersions {
  readonly wanted: KubernetesObject;
  readonly live: KubernetesObject;
  /** The wanted one, rendered with another seed; undefined if that has no Secret of the name. */
  readonly other: KubernetesObject | undefined;
}

/** Whether the live and the wanted Secret differ in a value at all. */
export function differs({ wanted, live }: Pick<SecretVersions, 'wanted' | 'live'>): boolean {
  return differingKeys(wanted, live).length > 0;
}

/** Whether the wanted Secret has other generated values than the live one. */
export function overwrites({ wanted, live, other }: SecretVersions): boolean {
  const generated = differingKeys(wanted, other);
  return differingKeys(wanted, live).some((key) => other === undefined || generated.includes(key));
}

/**
 * Whether the wanted Secret has generated words that the live one lacks, in a value that core has
 * written. The rest of a value may come from the config: a URL may have a generated password and a
 * configured host.
 */
export function redraws({ wanted, live, other }: SecretVersions): boolean {
  if (other === undefined) return false;
  const isOwn = keysOfCore(live);
  const hasCertificate = Object.values(valuesIn(wanted)).some(isCertificate);
  const wordsIn = (secret: KubernetesObject, key: string): ReadonlySet<string> =>
    wordsOf(decoded(valuesIn(secret)[key]), hasCertificate);
  return differingKeys(wanted, live).some((key) => {
    const generated = wordsIn(wanted, key).difference(wordsIn(other, key));
    return isOwn.has(key) && !generated.isSubsetOf(wordsIn(live, key));
  });
}

/** Core does not overwrite what another client has written into a field that core ignores. */
function keysOfCore(live: KubernetesObject): ReadonlySet<string> {
  const entries = listOf(fieldAt(live.metadata, 'managedFields')).filter(isOwnEntry);
  const fields = entries.flatMap((entry) => Object.keys(mapOf(fieldAt(fieldsOf(entry), 'f:data'))));
  return new Set(fields.map((field) => field.replace(/^f:/, '')));
}

const certificate = '-----BEGIN CERTIFICATE-----';

function isCertificate(value: unknown): boolean {
  return decoded(value).includes(certificate);
}

const pem = /-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----/g;
/** A password's hash by bcrypt. */
const hash = /\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}/g;

/**
 * The words of a text, without those that have a random part and depend on the config as well: with
 * another host name a certificate is another one, and with another password its hash.
 */
function wordsOf(text: string, withoutKeys: boolean): ReadonlySet<string> {
  const rest = text.replaceAll(pem, (block) =>
    withoutKeys || block.startsWith(certificate) ? '' : block,
  );
  return new Set(rest.replaceAll(hash, '').match(/[A-Za-z0-9]+/g));
}

function decoded(value: unknown): string {
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('latin1') : '';
}

/**
 * Digest of the Secrets among rendered objects, keyed with the seed so that it tells nothing about
 * them; undefined for a class without a seed.
 */
export function secretsDigest(
  { facts: { seed } }: Recipe,
  objects: readonly KubernetesObject[],
): string | undefined {
  if (seed === undefined) return undefined;
  const hmac = createHmac('sha256', seed);
  for (const object of objects.filter(isSecret)) hmac.update(digestOf(object));
  return hmac.digest('base64url');
}

/** Identifies the content of a recipe with these Secrets. */
export function tokenOf(recipe: Recipe, secrets: string | undefined): string {
  const content = JSON.stringify([contentOf(recipe), secrets]);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
