import type { ContentLimits } from '../contracts/bundle-files.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { Source } from '../contracts/source.ts';

/** A process that serves some provisioner classes. Whatever is left out has core's default. */
export interface ManagerOptions {
  /** The classes that this process serves; no two of one name. */
  readonly provisioners: readonly Provisioner[];
  readonly sources: readonly Source[];
  /** Kubeconfig file; KUBECONFIG, ~/.kube/config or the pod's own account otherwise. */
  readonly kubeconfig?: string | undefined;
  /** Where Secrets are read and the lease is held, and where objects without a namespace go. */
  readonly systemNamespace: string;
  readonly limits: ContentLimits;
  readonly content: ContentOptions;
  /** Uploads are neither taken nor read where absent. */
  readonly uploads?: UploadOptions | undefined;
  /** As `host:port`; `0` for none. */
  readonly healthProbeBindAddress: string;
  /** The Lease to hold before reconciling; none where absent. */
  readonly leaseName?: string | undefined;
  /** BundleDeployments reconciled at once, and Bundles unpacked. */
  readonly workers: number;
  /** Whether the Healthy condition is reported (feature gate BundleDeploymentHealth). */
  readonly reportHealth: boolean;
  readonly logger: Logger;
}

/** Where content is kept, and how it is served and read. */
export interface ContentOptions {
  readonly directory: string;
  readonly bindAddress: string;
  /** URL under which others reach the content server. */
  readonly externalAddress: string;
  /** Serves HTTPS where given. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** CAs (PEM file) of client certificates; the cluster's own where absent. Only with `tls`. */
  readonly clientCaFile?: string | undefined;
  /** Audiences that readers' tokens must be for; the API server's own where absent or empty. */
  readonly tokenAudiences?: readonly string[] | undefined;
  /** Other content servers: they get this process's token. */
  readonly contentServers: readonly string[];
  /** CAs (PEM file) of other content servers. */
  readonly caFile?: string | undefined;
}

/** How uploads are taken and kept; what keeps them serves source type `upload` too. */
export interface UploadOptions {
  /** `cluster` shares them among replicas, in Secrets of the system namespace. */
  readonly storage: 'directory' | 'cluster';
  /** Where they are kept, or only received where the cluster keeps them. */
  readonly directory: string;
  /** One upload, packed. */
  readonly maxBytes: number;
  /** Milliseconds between two looks for uploads whose Bundles are gone. */
  readonly syncInterval: number;
}
