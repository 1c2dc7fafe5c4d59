import type { CertificateState } from './certificate-state.ts';

/** What is known of one Secret. */
export interface CertificateEntry {
  state: CertificateState;
  /** False for what may be in this process alone. */
  stored: boolean;
  /** Since when all objects that are to trust it do; undefined while that is not known. */
  trustedSince?: number | undefined;
  /** The certificate that was told of last: the one in the cluster. */
  told?: string | undefined;
}

interface DeploymentEntries {
  readonly uid: string | undefined;
  readonly entries: Map<string, CertificateEntry>;
}

/**
 * The certificates of deployments, by the keys of their Secrets. What is remembered is put back
 * where somebody deletes or changes a Secret.
 */
export class CertificateMemory {
  readonly #deployments = new Map<string, DeploymentEntries>();

  /** Of a namesake that was deleted nothing is remembered. */
  of({ name = '', uid }: DeploymentName): Map<string, CertificateEntry> {
    const known = this.#deployments.get(name);
    if (known !== undefined && known.uid === uid) return known.entries;
    const entries = new Map<string, CertificateEntry>();
    this.#deployments.set(name, { uid, entries });
    return entries;
  }

  forget(name: string): void {
    this.#deployments.delete(name);
  }

  /** All that are in the cluster: the Secret's key, and the certificate that is served. */
  served(): readonly (readonly [string, string])[] {
    return [...this.#deployments.values()].flatMap(({ entries }) =>
      [...entries].flatMap(([key, { told }]) => (told === undefined ? [] : [[key, told] as const])),
    );
  }
}

export interface DeploymentName {
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
}
