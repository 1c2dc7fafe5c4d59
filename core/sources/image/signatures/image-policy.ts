import { createPublicKey, type KeyObject } from 'node:crypto';
import { RE2JS } from 're2js';
import { z } from 'zod';
import { errorMessage } from '../../../errors.ts';
import { parseManifests } from '../../../manifests/index.ts';
import { normalPattern, spellings } from '../../../registry/index.ts';

/** The required signers of an image's manifest; any one authority of a policy suffices. */
export interface ImagePolicy {
  readonly name: string;
  /** Whether the policy applies to a repository, named `<domain>/<path>`. */
  matches(repository: string): boolean;
  readonly authorities: readonly Authority[];
}

export type Authority = KeyAuthority | KeylessAuthority | StaticAuthority;

/** The holder of a private key. */
export interface KeyAuthority {
  readonly type: 'key';
  readonly name: string;
  readonly publicKey: KeyObject;
}

/**
 * The users who can log in as one of these identities at the issuer, by a certificate of the trust
 * root.
 */
export interface KeylessAuthority {
  readonly type: 'keyless';
  readonly name: string;
  readonly identities: readonly Identity[];
}

/** Decides without any signature. */
export interface StaticAuthority {
  readonly type: 'static';
  readonly name: string;
  readonly action: 'pass' | 'fail';
}

export interface Identity {
  matches(signer: { readonly issuer: string; readonly subject: string }): boolean;
}

const identitySchema = z
  .strictObject({
    issuer: z.string().min(1).optional(),
    issuerRegExp: z.string().min(1).optional(),
    subject: z.string().min(1).optional(),
    subjectRegExp: z.string().min(1).optional(),
  })
  .refine(
    ({ issuer, issuerRegExp }) => (issuer ?? issuerRegExp) !== undefined,
    'needs issuer or issuerRegExp',
  )
  .refine(
    ({ subject, subjectRegExp }) => (subject ?? subjectRegExp) !== undefined,
    'needs subject or subjectRegExp',
  );

const authoritySchema = z
  .strictObject({
    name: z.string().optional(),
    key: z.strictObject({ data: z.string() }).optional(),
    keyless: z.strictObject({ identities: z.array(identitySchema).min(1) }).optional(),
    static: z.strictObject({ action: z.enum(['pass', 'fail']) }).optional(),
  })
  .refine(
    ({ key, keyless, static: fixed }) =>
      [key, keyless, fixed].filter((kind) => kind !== undefined).length === 1,
    'needs exactly one of key, keyless and static',
  );

// Refuses unknown fields: ignoring one silently would be a security hole.
const policySchema = z.strictObject({
  apiVersion: z.enum(['policy.sigstore.dev/v1beta1', 'policy.sigstore.dev/v1alpha1']),
  kind: z.literal('ClusterImagePolicy'),
  metadata: z.looseObject({ name: z.string().min(1) }),
  spec: z.strictObject({
    images: z.array(z.strictObject({ glob: z.string().min(1) })).min(1),
    authorities: z.array(authoritySchema).min(1),
    mode: z.literal('enforce').optional(),
  }),
});

type AuthoritySpec = z.infer<typeof authoritySchema>;

/**
 * Reads ClusterImagePolicies of sigstore's policy-controller, with the fields listed in
 * docs/howto/signatures.md.
 * @throws Error that names the file, the policy and the field
 */
export function parseImagePolicies(file: string, content: Uint8Array): readonly ImagePolicy[] {
  const objects = parseManifests(file, content);
  if (objects.length === 0) throw new Error(`${file} holds no ClusterImagePolicy`);
  return objects.map((object, index) => {
    const where = `${file}, ${object.metadata.name ?? `document ${index + 1}`}`;
    const result = policySchema.safeParse(object);
    if (!result.success) throw new Error(`${where}: ${problemOf(result.error)}`);
    const { metadata, spec } = result.data;
    const globs = spec.images.map(({ glob }) => globPattern(normalPattern(glob)));
    return {
      name: metadata.name,
      matches: (repository) => {
        const names = spellingsOf(repository);
        return globs.some((pattern) => names.some((name) => pattern.test(name)));
      },
      authorities: spec.authorities.map((authority, position) =>
        authorityOf(authority, `${where}: spec.authorities[${position}]`),
      ),
    };
  });
}

/** A policy that names no spelling of a repository would not be asked about it. */
function spellingsOf(repository: string): readonly string[] {
  const [domain = ''] = repository.split('/', 1);
  return spellings({ domain, path: repository.slice(domain.length + 1) });
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.map(String).join('.') ?? '';
  return `${path}${path === '' ? '' : ': '}${issue?.message ?? 'not valid'}`;
}

/** `*` matches anything within one part of a path, `**` anything at all. */
function globPattern(glob: string): Pattern {
  const pattern = glob.replaceAll(/\*\*|\*|[^*]+/g, (part) => {
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&');
  });
  return patternOf(`^${pattern}$`);
}

function authorityOf(spec: AuthoritySpec, where: string): Authority {
  const { key, keyless, static: fixed } = spec;
  if (key !== undefined) {
    const publicKey = publicKeyOf(key.data, where);
    return { type: 'key', name: spec.name ?? 'the public key', publicKey };
  }
  if (keyless !== undefined) {
    const identities = keyless.identities.map((identity) => identityOf(identity, where));
    return { type: 'keyless', name: spec.name ?? 'the identities', identities };
  }
  return { type: 'static', name: spec.name ?? 'static', action: fixed?.action ?? 'fail' };
}

function publicKeyOf(pem: string, where: string): KeyObject {
  try {
    if (!pem.includes('PUBLIC KEY')) throw new Error('it is not a PEM block "PUBLIC KEY"');
    return createPublicKey(pem);
  } catch (error) {
    throw new Error(`${where}.key.data: not a public key: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function identityOf(spec: z.infer<typeof identitySchema>, where: string): Identity {
  const issuer = textMatcher(spec.issuer, spec.issuerRegExp, where);
  const subject = textMatcher(spec.subject, spec.subjectRegExp, where);
  return { matches: (signer) => issuer(signer.issuer) && subject(signer.subject) };
}

function textMatcher(
  exact: string | undefined,
  expression: string | undefined,
  where: string,
): (text: string) => boolean {
  if (expression === undefined) return (text) => text === exact;
  const pattern = compiled(expression, where);
  return (text) => (exact === undefined || text === exact) && pattern.test(text);
}

/** Matches in time linear in the text, whatever the pattern, because the text is untrusted. */
interface Pattern {
  test(text: string): boolean;
}

function patternOf(expression: string): Pattern {
  const pattern = RE2JS.compile(expression);
  return { test: (text) => pattern.matcher(text).find() };
}

function compiled(expression: string, where: string): Pattern {
  try {
    return patternOf(expression);
  } catch (error) {
    throw new Error(`${where}: ${JSON.stringify(expression)} is not a valid regular expression`, {
      cause: error,
    });
  }
}
