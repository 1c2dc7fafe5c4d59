/** Keys of labels and annotations that the project writes. */
export const label = {
  ownerKind: 'core.rukpak.io/owner-kind',
  ownerName: 'core.rukpak.io/owner-name',
  templateHash: 'core.rukpak.io/bundle-template-hash',
  /** KEP-3659: on objects of a deployment's content, and on no others. */
  partOf: 'applyset.kubernetes.io/part-of',
  /** "true" on an Operator that the controller made because others require its package. */
  dependency: 'core.rukpak.io/dependency',
} as const;

export const annotation = {
  /** On a BundleDeployment: foreign objects that it may adopt. */
  adopt: 'core.rukpak.io/adopt',
  /** On a BundleDeployment: deployments to which it transfers ownership of its objects. */
  handOver: 'core.rukpak.io/hand-over',
  /** On a BundleDeployment: digest of the approved plan. */
  approve: 'core.rukpak.io/approve',
  /** On a BundleDeployment: digest of the confirmed deletions. */
  confirmPrune: 'core.rukpak.io/confirm-prune',
  /** On a BundleDeployment: identity of the seed of its generated values, set by core. */
  seed: 'core.rukpak.io/seed',
  /** On a BundleDeployment: `<its name>:<namespace>` in which it is installed, set by core. */
  installNamespace: 'core.rukpak.io/install-namespace',
  /**
   * On a BundleDeployment: `<its name>:<digest>` of the last applied objects and hooks, set by
   * core.
   */
  hooksApplied: 'core.rukpak.io/hooks-applied',
  /**
   * On a BundleDeployment: `<its name>:<active Bundle>/<digests>` of what its status decides, set by
   * core.
   */
  notedStatus: 'core.rukpak.io/noted-status',
  /**
   * On a BundleDeployment that is deleted with `--cascade=orphan`: its UID, set by core, so that its
   * objects are orphaned however long the deletion takes.
   */
  orphanObjects: 'core.rukpak.io/orphan-objects',
  /**
   * On a BundleDeployment: identity of the new seed, or of the content with the same seed, whose
   * generated values are accepted.
   */
  acceptNewSeed: 'core.rukpak.io/accept-new-seed',
  /**
   * On a BundleDeployment or Bundle: a changed value requests a reconcile; RFC 3339 by convention.
   */
  reconcileRequestedAt: 'core.rukpak.io/reconcile-requested-at',
  /** On a BundleDeployment: the user who last changed its spec, set by the webhook. */
  changedBy: 'core.rukpak.io/changed-by',
  /** On an object of a bundle: its stage, an integer. */
  stage: 'core.rukpak.io/stage',
  /**
   * On an object of a bundle: "true" keeps it when it would be pruned or its deployment is deleted.
   */
  keep: 'core.rukpak.io/keep',
  /** On an object of a class: "true" applies it only if the cluster serves its kind. */
  optional: 'core.rukpak.io/optional',
  /** On an object of a class: why core does not apply it; reported by a Warning Event. */
  leftOut: 'core.rukpak.io/left-out',
  /**
   * On an object of a bundle: events at which it runs as a hook, such as "pre-install,pre-upgrade".
   */
  hook: 'core.rukpak.io/hook',
  /** On a hook: an integer; lower ones run first. */
  hookWeight: 'core.rukpak.io/hook-weight',
  /** On a hook: when it is deleted: before-hook-creation, hook-succeeded, hook-failed. */
  hookDeletePolicy: 'core.rukpak.io/hook-delete-policy',
  /** On the object of a hook: its run. */
  hookRun: 'core.rukpak.io/hook-run',
  /** On the object of a hook: the name of its Bundle. */
  hookBundle: 'core.rukpak.io/hook-bundle',
  /** On a BundleDeployment: "true" skips its hooks. */
  skipHooks: 'core.rukpak.io/skip-hooks',
  /**
   * On an object: the BundleDeployment for which core made exactly this object; see `trackingID`.
   */
  trackingID: 'core.rukpak.io/tracking-id',
  /** On an orphaned object: the BundleDeployment that it belonged to. */
  leftBy: 'core.rukpak.io/left-by',
  /**
   * On a Bundle: "true" when its BundleDeployment has a spec.config; set by the deployment's
   * reconciler.
   */
  configured: 'core.rukpak.io/configured',
  /** On a Service of a bundle: name of the Secret for its serving certificate. */
  servingCertificate: 'core.rukpak.io/serving-certificate',
  /** On an object with a caBundle: the Secret `<namespace>/<name>` whose CA it must trust. */
  injectCaFrom: 'core.rukpak.io/inject-ca-from',
  /**
   * On a BundleDeployment: a changed value requests new certificates; on their Secret: the last
   * one.
   */
  rotateCertificates: 'core.rukpak.io/rotate-certificates',
  /** On pods of a bundle: changes when they use another certificate. */
  certificateHash: 'core.rukpak.io/certificate-hash',
  /**
   * On a BundleDeployment of an Operator or ClusterExtension: its bundle as the catalog has it, and
   * earlier ones; set by their controller.
   */
  selectedBundle: 'core.rukpak.io/selected-bundle',
  /**
   * On an Operator that the controller made: the Operators and ClusterExtensions that require its
   * package, and what they require; JSON.
   */
  requiredBy: 'core.rukpak.io/required-by',
  /**
   * On an Operator or ClusterExtension: a bundle that is not healthy after this time is rolled back,
   * such as "5m".
   */
  rollbackDeadline: 'core.rukpak.io/rollback-deadline',
  /**
   * On a Bundle: digest or commit of its content, empty before the first unpack; set by core.
   */
  pin: 'core.rukpak.io/pin',
  /** On a Bundle older than its BundleDeployment: UID of that BundleDeployment; set by core. */
  adoptedBy: 'core.rukpak.io/adopted-by',
  /**
   * On the Bundle of a BundleDeployment: `<namespace>/<name>` of the ServiceAccount that reads its
   * Secrets, empty for core; set by the deployment's reconciler.
   */
  sourceReader: 'core.rukpak.io/source-reader',
  /** On a Secret: the hosts that may receive it, such as `git.example.com,*.corp:8443`. */
  sourceHosts: 'core.rukpak.io/source-hosts',
  /** On a Bundle of source upload: SHA-256 of the last upload; `receiving …` until it is stored. */
  uploadDigest: 'core.rukpak.io/upload-digest',
  /** On a CRD: "false" disables the check of its custom resources at a change. */
  safeCrdUpgrade: 'core.rukpak.io/safe-crd-upgrade-validation',
  /** On a CRD: "false" allows its deletion together with its custom resources. */
  safeCrdDeletion: 'core.rukpak.io/safe-crd-deletion-validation',
} as const;

export const finalizer = {
  deleteCachedBundle: 'core.rukpak.io/delete-cached-bundle',
  /** Finalizer of a BundleDeployment whose objects core deletes in order. */
  deleteObjects: 'core.rukpak.io/delete-objects',
} as const;
