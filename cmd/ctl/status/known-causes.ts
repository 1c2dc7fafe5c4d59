type Cause = readonly [
  text: RegExp,
  advice: (deploymentName: string, groups: readonly (string | undefined)[]) => string,
];

/** What to do about failures whose message alone does not say where to do it. */
const causes: readonly Cause[] = [
  [
    /lacks permissions that this takes/,
    (name) =>
      `look at what "rukpakctl permissions ${name} --missing" prints, and have it applied by somebody who may grant it (docs/howto/service-accounts.md)`,
  ],
  [
    /ServiceAccount "([^"]+)" in namespace "([^"]+)", which spec\.serviceAccount names, does not exist/,
    (_, [account, namespace]) =>
      `kubectl create serviceaccount ${account} --namespace ${namespace}`,
  ],
  [
    /exists and cannot be imported into the current release/,
    () =>
      'these objects are somebody else’s: the condition Installed ends with the ways out (docs/howto/ownership.md)',
  ],
  [
    /namespaces "([^"]+)" not found/,
    (_, [namespace]) =>
      `kubectl create namespace ${namespace}: it goes on by itself, within a minute`,
  ],
  [
    /no matches for kind "ClusterServiceVersion"/,
    (name) =>
      `this is an operator: rukpakctl run --bundle-provisioner-class core-rukpak-io-registry ${name} <directory>, or that class as spec.template.spec.provisionerClassName (docs/howto/operators.md)`,
  ],
  [
    /no matches for kind "/,
    () =>
      'install what brings the kinds that the condition names: it goes on by itself, within a minute',
  ],
  [
    /AllNamespace install mode must be enabled/,
    (name) =>
      `the operator watches some namespaces only: say which in spec.config.watchNamespace of BundleDeployment "${name}" (docs/howto/operators.md; rukpakctl validate says what it supports)`,
  ],
  [
    /do not support target|parse deployment config:/,
    (name) =>
      `correct spec.config of BundleDeployment "${name}" as the condition says: rukpakctl render --config tries another one without the cluster`,
  ],
  [
    /needs what the cluster does not serve/,
    () => 'install what the condition names: it goes on by itself then',
  ],
  [
    /needs Kubernetes \S+ or later/,
    () => 'upgrade the cluster, or put an earlier version of the operator into spec.template',
  ],
  [
    /--certificates=|no cert-manager/,
    () =>
      'core cannot have the certificates made: the condition says what to install, or to run it with',
  ],
  [
    /annotation core\.rukpak\.io\/(?:serving-certificate|inject-ca-from)/,
    () =>
      'correct the annotation that the condition names, in the content (docs/howto/certificates.md)',
  ],
];

/** What to do about a failure, by its message; undefined where that says it all. */
export function knownCause(message: string, deploymentName: string): string | undefined {
  for (const [text, advice] of causes) {
    const match = text.exec(message);
    if (match !== null) return advice(deploymentName, match.slice(1));
  }
  return undefined;
}
