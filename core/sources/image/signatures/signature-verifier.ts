import { TrustedRoot } from '@sigstore/protobuf-specs';
import { type TrustMaterial, toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { errorMessage, quoted } from '../../../errors.ts';
import type {
  Authority,
  Identity,
  ImagePolicy,
  KeyAuthority,
  KeylessAuthority,
} from './image-policy.ts';
import type { SignedStatement } from './signed-statement.ts';

/** A manifest or index in a repository, and its alleged signatures. */
interface SignedImage {
  /** `<domain>/<path>` */
  readonly repository: string;
  readonly digest: string;
  /** Rejects when the registry does not answer; that never means that there are none. */
  statements(): Promise<readonly SignedStatement[]>;
}

interface SignatureVerifierOptions {
  readonly policies: readonly ImagePolicy[];
  /** Required by keyless authorities. */
  readonly trustRoot?: TrustRoot | undefined;
}

/** Verifies images by the policies for their repository; fails closed. */
export class SignatureVerifier {
  readonly #policies: readonly ImagePolicy[];
  readonly #trustRoot: TrustRoot | undefined;

  /** @throws Error when a policy needs options that are missing. */
  constructor({ policies, trustRoot }: SignatureVerifierOptions) {
    this.#policies = policies;
    this.#trustRoot = trustRoot;
    const keyless = policies.find(({ authorities }) =>
      authorities.some(({ type }) => type === 'keyless'),
    );
    if (keyless === undefined || trustRoot !== undefined) return;
    throw new Error(
      `image policy "${keyless.name}" has a keyless authority, which needs a trust root (--sigstore-trusted-root)`,
    );
  }

  /** @throws Error that names the policy and why none of its authorities accepts the image. */
  async verify(image: SignedImage): Promise<void> {
    const policies = this.#policies.filter((policy) => policy.matches(image.repository));
    const looks = policies.some((policy) => !isStatic(policy.authorities));
    const statements = looks ? await image.statements() : [];
    const signed = statements.filter(({ digests }) => digests.includes(image.digest));
    for (const policy of policies) {
      const problems = this.#problems(policy, signed);
      if (problems === undefined) continue;
      throw new Error(
        `${image.repository}@${image.digest} does not satisfy image policy "${policy.name}": ${problems}`,
      );
    }
  }

  /** Undefined when the policy accepts the image. */
  #problems(policy: ImagePolicy, signed: readonly SignedStatement[]): string | undefined {
    const problems = policy.authorities.map((authority) => this.#problem(authority, signed));
    return problems.includes(undefined) ? undefined : [...new Set(problems)].join('; ');
  }

  #problem(authority: Authority, signed: readonly SignedStatement[]): string | undefined {
    if (authority.type === 'static') {
      return authority.action === 'pass' ? undefined : 'it refuses every image';
    }
    if (signed.length === 0) {
      return 'the image is not signed; sign it with cosign, or change the policy';
    }
    const reasons = signed.map((statement) => this.#refusal(statement, authority));
    if (reasons.includes(undefined)) return undefined;
    return `no signature by ${authority.name} (${[...new Set(reasons)].join('; ')})`;
  }

  #refusal(
    statement: SignedStatement,
    authority: Exclude<Authority, { type: 'static' }>,
  ): string | undefined {
    try {
      if (authority.type === 'key') checkKeySignature(statement, authority);
      else if (this.#trustRoot === undefined) throw new Error('there is no trust root');
      else checkKeylessSignature(statement, authority, this.#trustRoot);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }
}

function isStatic(authorities: readonly Authority[]): boolean {
  return authorities.every(({ type }) => type === 'static');
}

/** @throws Error with the reason, unless the key made the signature. */
function checkKeySignature(statement: SignedStatement, { publicKey }: KeyAuthority): void {
  const { signature } = toSignedEntity(statement.bundle, statement.artifact);
  const material: TrustMaterial = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: () => ({ publicKey, validFor: () => true }),
  };
  // The key alone is enough: neither logs nor time stamps count.
  const verifier = new Verifier(material, {
    tlogThreshold: 0,
    ctlogThreshold: 0,
    timestampThreshold: 0,
  });
  verifier.verify({
    signature,
    key: { $case: 'public-key', hint: '' },
    timestamps: [],
    tlogEntries: [],
  });
}

/** @throws Error with the reason, unless one of the identities signed, by the trust root. */
function checkKeylessSignature(
  statement: SignedStatement,
  { identities }: KeylessAuthority,
  { material }: TrustRoot,
): void {
  const entity = toSignedEntity(statement.bundle, statement.artifact);
  if (entity.key.$case !== 'certificate') throw new Error('it is signed without a certificate');
  // A trust root without logs belongs to an installation without logs; a time is always needed.
  const verifier = new Verifier(material, {
    tlogThreshold: material.tlogs.length === 0 ? 0 : 1,
    ctlogThreshold: material.ctlogs.length === 0 ? 0 : 1,
    timestampThreshold: 1,
  });
  const { identity = {} } = verifier.verify(entity);
  const issuer = identity.extensions?.issuer ?? '';
  const subject = identity.subjectAlternativeName ?? '';
  if (matchesOne(identities, { issuer, subject })) return;
  throw new Error(`it is signed by ${quoted(subject)}, of issuer ${quoted(issuer)}`);
}

function matchesOne(
  identities: readonly Identity[],
  signer: { readonly issuer: string; readonly subject: string },
): boolean {
  return identities.some((identity) => identity.matches(signer));
}

/** Certificate authorities and logs for keyless signatures. */
interface TrustRoot {
  readonly material: TrustMaterial;
}

/**
 * Reads sigstore's `trusted_root.json`.
 * @throws Error that names the file
 */
export function parseTrustedRoot(file: string, text: string): TrustRoot {
  try {
    const root = TrustedRoot.fromJSON(JSON.parse(text));
    if (root.certificateAuthorities.length === 0)
      throw new Error('it has no certificateAuthorities');
    return { material: toTrustMaterial(root) };
  } catch (error) {
    throw new Error(`${file} is not a sigstore trusted root: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
