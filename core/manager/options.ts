import type { DeletionPolicy, PrunePolicy } from '../../api/v1alpha1/deployment-policies.ts';
import type { CertificateOptions } from '../bundle-deployment/certificates/certificate-options.ts';
import type { ContentLimits } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Source } from '../contracts/source.ts';
import type { AddressPolicy } from '../platform/net/address-policy.ts';
import type { ByteBudget } from '../platform/runtime/byte-budget.ts';

/**
 * What a process does of its classes' objects: `unpacking` fetches what Bundles name, stores and serves it;
 * `applying` renders and installs it for BundleDeployments, and gets it from the content server of another
 * process, by `content.contentServers`.
 */
export type Zone = 'unpacking' | 'applying';

/** A process that serves some provisioner classes. Whatever is left out has core's default. */
export interface ManagerOptions {
  /**
   * The classes that this process serves, no two of one name. A class is run in this process; the
   * URL of a module whose default export is a class is run in processes of its own, where a handler
   * that crashes, loops or needs too much memory fails its own call only.
   */
  readonly provisioners: readonly (Provisioner | URL)[];
  /** Default: one process does both. */
  readonly zone?: Zone | undefined;
  /**
   * Sources besides those of core (image, git, http and configMaps); one of a type that core has
   * replaces core's.
   */
  readonly sources?: readonly Source[];
  /** How core's image source reaches registries. */
  readonly registries?: RegistryOptions;
  /**
   * Which addresses core's sources connect to. Loopback, link-local and private ranges are denied where
   * `allow` does not list them; registries that `registries` names are always allowed.
   */
  readonly sourceAddresses?: AddressPolicy;
  /** Kubeconfig file; KUBECONFIG, ~/.kube/config or the pod's own account otherwise. */
  readonly kubeconfig?: string | undefined;
  /**
   * Where Secrets and ConfigMaps are read and the lease is held, and where objects without a
   * namespace go. The pod's own namespace where absent, and `rukpak-system` outside of pods.
   */
  readonly systemNamespace?: string;
  /**
   * Whether sources may show a Secret without annotation `core.rukpak.io/source-hosts` to any host;
   * false where absent.
   */
  readonly allowUnscopedSourceSecrets?: boolean;
  /**
   * Whether objects without a namespace are refused where their deployment has no
   * spec.installNamespace (default: false).
   */
  readonly requireInstallNamespace?: boolean;
  /** Bounds on content; core's, `defaultLimits` of the SDK, for those that are left out. */
  readonly limits?: Partial<ContentLimits>;
  readonly content?: Partial<ContentOptions>;
  /** Default: uploads are neither taken nor read. */
  readonly uploads?: UploadOptions | undefined;
  /** As `host:port`; `0` for none. Default: `:8081`. */
  readonly healthProbeBindAddress?: string;
  /**
   * The Lease to hold before reconciling, `false` for none: then there must be one process only.
   * Where absent it is named after the classes, as `acme-jsonnet.core.rukpak.io`.
   */
  readonly leaseName?: string | false;
  /** BundleDeployments reconciled at once, and Bundles unpacked (default: 8). */
  readonly workers?: number;
  /**
   * What content and worker processes may take together. Half of the memory that the container has
   * where absent, 1 GiB where it is not bounded.
   */
  readonly memory?: ByteBudget;
  /**
   * Classes whose objects take none of these workers, with how many of their own each has, for both kinds: one that
   * loops or waits for long then holds up nobody else's.
   */
  readonly ownWorkers?: ReadonlyMap<string, number>;
  /**
   * Whether this process sees to objects of classes that no process serves: after 30 s their
   * condition Ready says so, and their deletion is ended. One manager of a cluster is to, and the
   * stock one does. Default: false.
   */
  readonly mindsUnserved?: boolean;
  /** Whether the Healthy condition is reported (default: true). */
  readonly reportHealth?: boolean;
  /** For each field that a deployment's spec.prune leaves out (default: no confirmation needed). */
  readonly pruneDefaults?: PrunePolicy | undefined;
  /** For deployments without spec.deletionPolicy (default: `Delete`). */
  readonly defaultDeletionPolicy?: DeletionPolicy | undefined;
  /** Who makes the certificates that objects are annotated to have, and how long they last. */
  readonly certificates?: Partial<CertificateOptions> | undefined;
  /**
   * ClusterRole that this process keeps for crdvalidator: it may list the custom resources of every
   * CRD. Default: none. The process needs the same rights.
   */
  readonly crdReaderRole?: string | undefined;
  /** Default: JSON lines on stderr, from level info. */
  readonly logger?: Logger;
}

/** Where content is kept, and how it is served and read. */
export interface ContentOptions {
  /** Directory of archives; not shared with other processes (default: `/var/cache/bundles`). */
  readonly directory: string;
  /** Where the content server listens, as `host:port` (default: `:8080`). */
  readonly bindAddress: string;
  /**
   * URL under which others reach the content server: status.contentURL of the Bundles that this
   * process unpacks begins with it. `http://localhost:8080` where absent, which is of use to nobody
   * else. Other processes read it where they have it among their `contentServers`.
   */
  readonly externalAddress: string;
  /** Serves HTTPS where given. The files are read again when they change. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** CAs (PEM file) of client certificates (default: the cluster's own). Only with `tls`. */
  readonly clientCaFile?: string | undefined;
  /** Audiences that readers' tokens must have (default, also if empty: the API server's own). */
  readonly tokenAudiences?: readonly string[] | undefined;
  /**
   * Content servers of other processes, such as `https://core.rukpak-system.svc` of the stock core:
   * a deployment whose Bundle another process unpacked is read from there. They, and no others, get
   * this process's token, whose account needs the right to `get` the Bundles' `/content`.
   */
  readonly contentServers: readonly string[];
  /** CAs (PEM file) of other content servers (default: the system's). */
  readonly caFile?: string | undefined;
  /** This process's token for other content servers (default: the pod's own). */
  readonly tokenFile?: string | undefined;
}

/** How uploads are taken and kept; what keeps them serves source type `upload` too. */
export interface UploadOptions {
  /** `cluster` shares them among replicas, in Secrets of the system namespace. */
  readonly storage: 'directory' | 'cluster';
  /** Where they are kept, or only received where the cluster keeps them. */
  readonly directory: string;
  /** Of the Secrets of storage `cluster` (default: the system namespace). */
  readonly namespace?: string | undefined;
  /** One upload, packed. */
  readonly maxBytes: number;
  /** Milliseconds between two looks for uploads whose Bundles are gone. */
  readonly syncInterval: number;
}

/** How registries are reached: each field is the flag of `rukpak core` of the same name. */
export interface RegistryOptions {
  /** Registries (`host[:port]`) to use over HTTP. */
  readonly insecureRegistry?: readonly string[];
  /** PEM file of CAs to trust besides the system's. */
  readonly registryCaFile?: string;
  /** Folder of CAs and client certificates by registry, laid out as /etc/containers/certs.d. */
  readonly registryCertsDir?: string;
  /** Mirrors and blocked registries, in the format of containers-registries.conf. */
  readonly registriesConf?: string;
  /** Who must have signed which images, as ClusterImagePolicies. */
  readonly imagePolicy?: string;
  /** trusted_root.json for signatures without a key. */
  readonly sigstoreTrustedRoot?: string;
}
