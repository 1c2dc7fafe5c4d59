import type { CertificateState } from './certificate-state.ts';

/** What is known of one Secret. */
export interface CertificateEntry {
  state: CertificateState;
  /** False for a state that may exist only in this process. */
  stored: boolean;
  /** The last stored one, while this is not. */
  former?: CertificateEntry | undefined;
  /** Time since when all objects trust it; undefined while unknown. */
  trustedSince?: number | undefined;
  /** The last reported certificate: the one in the cluster. */
  told?: string | undefined;
}

/** The entry for a state that is not stored yet. */
export function successor(
  known: CertificateEntry | undefined,
  state: CertificateState,
): CertificateEntry {
  const former = known?.stored === true ? known : known?.former;
  return { told: known?.told, state, stored: false, former };
}

interface DeploymentEntries {
  readonly uid: string | undefined;
  readonly entries: Map<string, CertificateEntry>;
}

/**
 * The certificates of deployments, by the keys of their Secrets. Core restores them when somebody
 * deletes or changes a Secret.
 */
export class CertificateMemory {
  readonly #deployments = new Map<string, DeploymentEntries>();

  /** Nothing is remembered of a deleted deployment of the same name. */
  of({ name = '', uid }: DeploymentName): Map<string, CertificateEntry> {
    const known = this.#deployments.get(name);
    if (known !== undefined && known.uid === uid) return known.entries;
    const entries = new Map<string, CertificateEntry>();
    this.#deployments.set(name, { uid, entries });
    return entries;
  }

  /** Forgets what is not stored. */
  revert(deployment: DeploymentName): void {
    const entries = this.of(deployment);
    for (const [key, { stored, former }] of entries) {
      if (stored) continue;
      if (former === undefined) entries.delete(key);
      else entries.set(key, former);
    }
  }

  forget(name: string): void {
    this.#deployments.delete(name);
  }

  /** All Secrets in the cluster: the key, and the certificate in use. */
  served(): readonly (readonly [string, string])[] {
    return [...this.#deployments.values()].flatMap(({ entries }) =>
      [...entries].flatMap(([key, { told }]) => (told === undefined ? [] : [[key, told] as const])),
    );
  }
}

interface DeploymentName {
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}
