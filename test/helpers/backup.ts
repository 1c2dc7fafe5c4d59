import type { KubernetesObject } from '../../api/meta.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import type { Kubectl } from './kubectl.ts';

const ownKinds = ['Secret', 'BundleDeployment', 'Bundle', 'objects'] as const;

/** What a backup has, by what is restored together. */
export type BackupPart = (typeof ownKinds)[number];

/** How the tool that writes the backup leaves objects as they are. */
export interface BackupOptions {
  /** Velero restores a status only where it is asked to. */
  readonly status?: boolean;
  /** Where Secret rukpak-seed is restored to. */
  readonly systemNamespace?: string;
}

/** Kinds of the objects that the deployments of a test install. */
const workloads = 'configmaps,secrets,serviceaccounts,deployments,jobs';

/** A backup as Velero writes and restores it: objects get another UID, and lose their owners. */
export class Backup {
  readonly #kubectl: Kubectl;
  readonly #options: BackupOptions;
  readonly #parts = new Map<BackupPart, readonly KubernetesObject[]>();

  private constructor(kubectl: Kubectl, options: BackupOptions) {
    this.#kubectl = kubectl;
    this.#options = options;
  }

  static async take(kubectl: Kubectl, options: BackupOptions = {}): Promise<Backup> {
    const backup = new Backup(kubectl, options);
    const parts = backup.#parts;
    parts.set('Secret', [await kubectl.get('secret', 'rukpak-seed', 'rukpak-system')]);
    parts.set('BundleDeployment', await kubectl.list('bundledeployments'));
    parts.set('Bundle', await kubectl.list('bundles'));
    parts.set('objects', (await kubectl.list(workloads, label.ownerName)).filter(isBackedUp));
    return backup;
  }

  /** Deletes everything that the backup has, as if it had never been there: core must not run. */
  async destroy(): Promise<void> {
    const none = JSON.stringify({ metadata: { finalizers: null } });
    for (const kind of ['bundledeployments', 'bundles']) {
      for (const { metadata } of await this.#kubectl.list(kind)) {
        const target = [kind, metadata.name ?? '', '--type=merge', `--patch=${none}`];
        await this.#kubectl.must(['patch', ...target]);
      }
      await this.#kubectl.must(['delete', kind, '--all', '--timeout=300s']);
    }
    for (const namespaced of workloads.split(',')) {
      const where = ['--all-namespaces', `--selector=${label.ownerName}`, '--timeout=300s'];
      await this.#kubectl.must(['delete', namespaced, ...where]);
    }
    await this.#kubectl.must(['delete', 'secret', 'rukpak-seed', '--namespace=rukpak-system']);
  }

  /** Creates what is missing, and leaves alone what is there. */
  async restore(...parts: readonly BackupPart[]): Promise<void> {
    for (const part of parts) {
      const items = (this.#parts.get(part) ?? []).map((object) => this.#restored(object));
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      const { stderr } = await this.#kubectl.run(['create', '-f', '-'], list);
      const errors = stderr.split('\n').filter((line) => line.includes('rror'));
      const others = errors.filter((line) => !line.includes('(AlreadyExists)'));
      if (others.length > 0) throw new Error(`cannot restore ${part}: ${others.join('\n')}`);
    }
  }

  #restored({ metadata, status, ...object }: KubernetesObject): object {
    const { name, labels, annotations, finalizers } = metadata;
    const isSeed = name === 'rukpak-seed' && this.#options.systemNamespace !== undefined;
    const namespace = isSeed ? this.#options.systemNamespace : metadata.namespace;
    const kept = { name, namespace, labels, annotations, finalizers };
    return { ...object, metadata: kept, ...(this.#options.status === true && { status }) };
  }
}

/** Of Jobs that are complete Velero restores none. */
function isBackedUp({ kind }: KubernetesObject): boolean {
  return kind !== 'Job';
}
