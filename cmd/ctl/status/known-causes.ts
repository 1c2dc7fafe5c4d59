/** What to do about failures whose message alone does not say where to do it. */
const causes: readonly (readonly [text: RegExp, advice: (name: string) => string])[] = [
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
  return causes.find(([text]) => text.test(message))?.[1](deploymentName);
}
