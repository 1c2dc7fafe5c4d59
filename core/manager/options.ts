import type { DeletionPolicy, PrunePolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type { CertificateOptions } from '../bundle-deployment/certificates/certificate-options.ts';
import type { ContentLimits } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Source } from '../contracts/source.ts';
import type { AddressPolicy } from '../platform/net/address-policy.ts';
import type { ByteBudget } from '../platform/runtime/queue/byte-budget.ts';
import type { RegistryFiles } from '../registry/index.ts';

/**
 * The part of the work that a process does for its classes: `unpacking` fetches, stores and serves
 * the content of Bundles; `applying` renders and installs it for BundleDeployments, and reads it
 * from the content server of another process, named in `content.contentServers`.
 */
export type Zone = 'unpacking' | 'applying';

/** A process that serves some provisioner classes. Omitted options have core's defaults. */
export interface ManagerOptions {
  /**
   * The classes that this process serves, with different names. A class object runs in this
   * process; a URL of a module whose default export is a class runs in separate processes, where a
   * handler that crashes, loops or needs too much memory fails only its own call.
   */
  readonly provisioners: readonly (Provisioner | URL)[];
  /** Default: one process does both. */
  readonly zone?: Zone | undefined;
  /**
   * Sources in addition to those of core (image, git, http and configMaps), with different types; one
   * with the type of a core source replaces that.
   */
  readonly sources?: readonly Source[];
  /** How core's image source connects to registries. */
  readonly registries?: RegistryOptions;
  /**
   * Addresses that core's sources may connect to. Loopback, link-local and private ranges are
   * denied unless `allow` lists them; registries that `registries` names are always allowed.
   */
  readonly sourceAddresses?: AddressPolicy;
  /** Kubeconfig file (default: KUBECONFIG, ~/.kube/config or the pod's own account). */
  readonly kubeconfig?: string | undefined;
  /** Context of the kubeconfig (default: its current context). */
  readonly context?: string | undefined;
  /**
   * Namespace of Secrets, ConfigMaps and the Lease, and of objects that name none (default: the
   * pod's own namespace, `rukpak-system` outside of pods).
   */
  readonly systemNamespace?: string;
  /**
   * Allow sources to send a Secret without annotation `core.rukpak.io/source-hosts` to any host
   * (default: false).
   */
  readonly allowUnscopedSourceSecrets?: boolean;
  /**
   * Refuse objects without a namespace when their deployment has no spec.installNamespace (default:
   * false).
   */
  readonly requireInstallNamespace?: boolean;
  /** Limits on content; omitted ones default to `defaultLimits` of the SDK. */
  readonly limits?: Partial<ContentLimits>;
  readonly content?: Partial<ContentOptions>;
  /** Default: uploads are disabled. */
  readonly uploads?: UploadOptions | undefined;
  /** Address as `host:port`; `0` disables it (default: `:8081`). */
  readonly healthProbeBindAddress?: string;
  /** More checks of `/readyz` by name; a check that throws makes the process unready. */
  readonly readyChecks?: Readonly<Record<string, () => void | Promise<void>>>;
  /**
   * Name of the Lease to hold while reconciling (default: a name made from the classes, such as
   * `acme-jsonnet.core.rukpak.io`).
   */
  readonly leaseName?: string;
  /**
   * `false` takes no Lease, which requires a single process: it fails if another one holds the
   * Lease (default: true).
   */
  readonly leaderElection?: boolean;
  /** Maximum number of BundleDeployments reconciled and Bundles unpacked at once (default: 8). */
  readonly workers?: number;
  /**
   * Memory for content and worker processes (default: half of the container's memory, 1 GiB without
   * a limit).
   */
  readonly memory?: ByteBudget;
  /**
   * Number of separate workers by class, for both kinds: a class that loops or waits for long then
   * delays no other class.
   */
  readonly ownWorkers?: ReadonlyMap<string, number>;
  /**
   * Report objects of classes that no process serves: after 30 s this process writes their
   * condition Ready and handles their deletion. Exactly one manager of a cluster must do that, and
   * the stock manager does (default: false).
   */
  readonly mindsUnserved?: boolean;
  /** Whether the Healthy condition is reported (default: true). */
  readonly reportHealth?: boolean;
  /** Defaults for fields that a deployment's spec.prune omits (default: no confirmation needed). */
  readonly pruneDefaults?: PrunePolicy | undefined;
  /** Deletion policy of deployments without spec.deletionPolicy (default: `Delete`). */
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  /** Issuer and lifetime of certificates for annotated objects. */
  readonly certificates?: Partial<CertificateOptions> | undefined;
  /**
   * ClusterRole that this process maintains for crdvalidator, with permission to list the custom
   * resources of every CRD (default: none). The process needs the same permissions.
   */
  readonly crdReaderRole?: string | undefined;
  /** Default: JSON lines on stderr, from level info. */
  readonly logger?: Logger;
}

/** Storage of content, and how to serve and read it. */
export interface ContentOptions {
  /** Directory of archives; not shared with other processes (default: `/var/cache/bundles`). */
  readonly directory: string;
  /**
   * Maximum bytes of all archives together, in which creators have shares (default: none). Less than
   * the size of the volume, by the content that is unpacked at the same time.
   */
  readonly maxArchiveBytes?: number | undefined;
  /** Address of the content server, as `host:port` (default: `:8080`). */
  readonly bindAddress: string;
  /**
   * URL of the content server for other processes, with which status.contentURL of this process's
   * Bundles begins (default: `http://localhost:8080`, which other machines cannot use). Other
   * processes must list it in their `contentServers`.
   */
  readonly externalAddress: string;
  /** Certificate for HTTPS (default: plain HTTP). Changed files are read again. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** CAs (PEM file) of client certificates (default: the cluster's own). Only with `tls`. */
  readonly clientCaFile?: string | undefined;
  /**
   * Audiences of which readers' tokens must have one (default, also if empty: the API server's
   * own).
   */
  readonly tokenAudiences?: readonly string[] | undefined;
  /**
   * Content servers of other processes, such as `https://core.rukpak-system.svc` of the stock core,
   * to read Bundles that another process unpacked; each with the path of its external address, if
   * that has one. Only they get this process's token, whose account needs permission to `get`
   * `/bundles/*`.
   */
  readonly contentServers: readonly string[];
  /** CAs (PEM file) of other content servers (default: the system's). */
  readonly caFile?: string | undefined;
  /** This process's token for other content servers (default: the pod's own). */
  readonly tokenFile?: string | undefined;
}

/** Storage of uploads, which source type `upload` reads. */
export interface UploadOptions {
  /** `cluster` shares them among replicas, in Secrets of the system namespace. */
  readonly storage: 'directory' | 'cluster';
  /** Directory of uploads; with storage `cluster`, of incoming ones. */
  readonly directory: string;
  /** Namespace of the Secrets of storage `cluster` (default: the system namespace). */
  readonly namespace?: string | undefined;
  /** Maximum bytes of one packed upload. */
  readonly maxBytes: number;
  /** Milliseconds between two searches for uploads of deleted Bundles. */
  readonly syncInterval: number;
}

/** Connections to registries: each field is the flag of `rukpak core` of the same name. */
export interface RegistryOptions extends RegistryFiles {
  /** Image signature policies (ClusterImagePolicy file). */
  readonly imagePolicy?: string;
  /** Sigstore's trusted_root.json, for keyless signatures. */
  readonly sigstoreTrustedRoot?: string;
}
