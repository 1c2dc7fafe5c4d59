/** Keys that the project puts on objects. */
export const label = {
  ownerKind: 'core.rukpak.io/owner-kind',
  ownerName: 'core.rukpak.io/owner-name',
  templateHash: 'core.rukpak.io/bundle-template-hash',
  /** Of KEP-3659: on what a deployment's content has, and on nothing else of a deployment's. */
  partOf: 'applyset.kubernetes.io/part-of',
} as const;

export const annotation = {
  /** On a BundleDeployment: names the foreign objects it may take over. */
  adopt: 'core.rukpak.io/adopt',
  /** On a BundleDeployment: names the deployments that may take objects of it. */
  handOver: 'core.rukpak.io/hand-over',
  /** On a BundleDeployment: digest of the plan that may be applied. */
  approve: 'core.rukpak.io/approve',
  /** On a BundleDeployment: digest of the deletions that may happen. */
  confirmPrune: 'core.rukpak.io/confirm-prune',
  /** On a BundleDeployment: identity of the seed that its values were generated with, set by core. */
  seed: 'core.rukpak.io/seed',
  /** On a BundleDeployment: `<its name>:<namespace>`, where it is installed, set by core. */
  installNamespace: 'core.rukpak.io/install-namespace',
  /** On a BundleDeployment: `<its name>:<digest>` of the objects and hooks that were applied last, set by core. */
  hooksApplied: 'core.rukpak.io/hooks-applied',
  /** On a BundleDeployment: identity of the seed that may generate new values. */
  acceptNewSeed: 'core.rukpak.io/accept-new-seed',
  /** On a BundleDeployment or Bundle: another value has it reconciled at once; RFC 3339 by custom. */
  reconcileRequestedAt: 'core.rukpak.io/reconcile-requested-at',
  /** On a BundleDeployment: who changed its spec last, set by the webhook. */
  changedBy: 'core.rukpak.io/changed-by',
  /** On an object of a bundle: a whole number, its stage. */
  stage: 'core.rukpak.io/stage',
  /** On an object of a bundle: "true" keeps it when it would be pruned or its deployment is deleted. */
  keep: 'core.rukpak.io/keep',
  /** On an object that a class makes: "true" applies it only where the cluster serves its kind. */
  optional: 'core.rukpak.io/optional',
  /** On an object that a class makes: why core does not apply it; told by a Warning event. */
  leftOut: 'core.rukpak.io/left-out',
  /** On an object of a bundle: when it is created instead of being kept, such as "pre-install,pre-upgrade". */
  hook: 'core.rukpak.io/hook',
  /** On a hook: a whole number; lower ones run first. */
  hookWeight: 'core.rukpak.io/hook-weight',
  /** On a hook: when it is deleted: before-hook-creation, hook-succeeded, hook-failed. */
  hookDeletePolicy: 'core.rukpak.io/hook-delete-policy',
  /** On a hook that was created: which run it is of. */
  hookRun: 'core.rukpak.io/hook-run',
  /** On a BundleDeployment: "true" runs none of its hooks. */
  skipHooks: 'core.rukpak.io/skip-hooks',
  /** On an object: for which BundleDeployment core made this very object; see `trackingID`. */
  trackingID: 'core.rukpak.io/tracking-id',
  /** On an object: the BundleDeployment that left it behind when it was deleted or pruned. */
  leftBy: 'core.rukpak.io/left-by',
  /** On a Bundle: "true" where its BundleDeployment has a spec.config, set by that one's reconciler. */
  configured: 'core.rukpak.io/configured',
  /** On a Service of a bundle: name of the Secret that is to have a serving certificate for it. */
  servingCertificate: 'core.rukpak.io/serving-certificate',
  /** On what the API server calls or trusts: the Secret `<namespace>/<name>` whose CA it is to trust. */
  injectCaFrom: 'core.rukpak.io/inject-ca-from',
  /** On a BundleDeployment: another value asks for other certificates; on their Secret: the last one. */
  rotateCertificates: 'core.rukpak.io/rotate-certificates',
  /** On pods of a bundle: another one where they use another certificate. */
  certificateHash: 'core.rukpak.io/certificate-hash',
  /**
   * On a Bundle of an image, git or HTTP source: digest or commit that it was unpacked from, empty
   * before, set by core.
   */
  pin: 'core.rukpak.io/pin',
  /** On a Secret: the hosts that sources may show it to, as `git.example.com,*.corp:8443`. */
  sourceHosts: 'core.rukpak.io/source-hosts',
  /** On a Bundle of source upload: SHA-256 of what was uploaded last. */
  uploadDigest: 'core.rukpak.io/upload-digest',
  /** On a CRD: "false" lets it change whatever its custom resources are. */
  safeCrdUpgrade: 'core.rukpak.io/safe-crd-upgrade-validation',
  /** On a CRD: "false" lets it be deleted together with its custom resources. */
  safeCrdDeletion: 'core.rukpak.io/safe-crd-deletion-validation',
} as const;

export const finalizer = {
  deleteCachedBundle: 'core.rukpak.io/delete-cached-bundle',
  /** On a BundleDeployment whose objects are deleted in order, or not at all. */
  deleteObjects: 'core.rukpak.io/delete-objects',
} as const;
