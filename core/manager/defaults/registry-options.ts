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
