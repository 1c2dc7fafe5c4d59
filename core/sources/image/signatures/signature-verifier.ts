import { errorMessage } from '../../../errors.ts';
import { checkKeylessSignature, checkKeySignature } from './check-signature.ts';
import type { Authority, ImagePolicy } from './image-policy.ts';
import type { SignedStatement } from './signed-statement.ts';
import type { TrustRoot } from './trusted-root.ts';

/** A manifest or index in a repository, and what is found there that claims to sign it. */
export interface SignedImage {
  /** `<domain>/<path>` */
  readonly repository: string;
  readonly digest: string;
  /** Rejects where the registry cannot tell: that never means that there are none. */
  statements(): Promise<readonly SignedStatement[]>;
}

export interface SignatureVerifierOptions {
  readonly policies: readonly ImagePolicy[];
  /** Needed by keyless authorities. */
  readonly trustRoot?: TrustRoot | undefined;
}

/** Holds images to the policies that are about their repository; fails closed. */
export class SignatureVerifier {
  readonly #policies: readonly ImagePolicy[];
  readonly #trustRoot: TrustRoot | undefined;

  /** @throws Error where a policy cannot be decided with what is given. */
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

  /** @throws Error that names the policy and why none of its authorities is satisfied. */
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

  /** Undefined where the policy is satisfied. */
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
