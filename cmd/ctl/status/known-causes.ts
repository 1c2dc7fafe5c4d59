import { objectArguments } from './object-report.ts';
import { type Cause, type Failing, sourceCauses } from './source-causes.ts';

const fields: Readonly<Record<string, string>> = {
  Bundle: 'spec.template.spec.provisionerClassName',
  BundleDeployment: 'spec.provisionerClassName',
};

/** Failures of classes: not served, server unavailable, or failing themselves. */
const classCauses: readonly Cause[] = [
  [
    /no manager reconciles this (\w+): either class "([^"]*)" is misspelt \(did you mean "([^"]*)"\?\)/,
    ({ name }, [kind = '', , meant]) =>
      `write "${meant}" as ${fields[kind]} of BundleDeployment "${name}"`,
  ],
  [
    /no manager reconciles this (\w+): either class "([^"]*)" is misspelt.* The running core serves (.*?)(?: \(Bundle |$)/,
    ({ name }, [kind = '', className, served]) =>
      `correct ${fields[kind]} of BundleDeployment "${name}" (core serves ${served}), or start the manager that serves class "${className}": rukpakctl verify checks core`,
  ],
  [
    /class "([^"]+)" at (\S+?)(?: answered (?:429|50[234])|: .*(?:refused|no such host|reset|closed|timed out|ECONN|unreachable))/,
    (_, [className, url]) =>
      `start the server of class "${className}", or correct its address ${url} in --provisioner-url of core: core continues by itself within a minute`,
  ],
  [
    /class "([^"]+)" at (\S+?) answered (\S+)/,
    (_, [className, url, status]) =>
      `read the log of the server of class "${className}" at ${url}, which answered ${status} (docs/howto/provisioner-over-http.md)`,
  ],
  [
    /class "[^"]+", (\w+)\(\): it needs a permission that classes do not have/,
    () =>
      'change the class to use only the files that it receives: it may read its own package and nothing else on the machine (docs/howto/run-a-provisioner.md)',
  ],
  [
    /class "([^"]+)", (\w+)\(\): /,
    ({ name }, [className, handler]) =>
      `${handler}() of class "${className}" fails: if its message names the config, correct spec.config of BundleDeployment "${name}"; otherwise its author must fix it, and core's log has its output`,
  ],
];

/** Failures of an installation or upgrade. */
const installCauses: readonly Cause[] = [
  [
    /lacks permissions for this/,
    ({ name }) =>
      `review the output of "rukpakctl permissions ${name} --missing", and have a user who may grant these permissions apply it (docs/howto/service-accounts.md)`,
  ],
  [
    /lacks permissions for the deletion: .*?(, or keep the objects: kubectl patch .*?'\{.*?\}')?\. Core retries/s,
    ({ name }, [keep = '']) =>
      `review the output of "rukpakctl permissions ${name} --missing", and have a user who may grant these permissions apply it${keep} (docs/howto/service-accounts.md#deletion)`,
  ],
  [
    /ServiceAccount "([^"]+)" in namespace "([^"]+)", which spec\.serviceAccount names, does not exist/,
    (_, [account, namespace]) =>
      `kubectl create serviceaccount ${account} --namespace ${namespace}`,
  ],
  [
    /in namespace (\S+) because it is being terminated/,
    (_, [namespace]) =>
      `namespace "${namespace}" is being deleted: wait until it is deleted (kubectl describe namespace ${namespace} shows what blocks it), then kubectl create namespace ${namespace} unless the bundle contains it. Core continues by itself`,
  ],
  [
    /cannot patch "([^"]+)" with kind (\w+): .*(?:immutable|may not (?:be )?change|updates to \w+ spec for fields other than)/s,
    (failing, [name = '', kind = '']) =>
      `the API server forbids changes to that field of a live ${kind}: restore its former value in the content, or let core recreate the object, which deletes its data: ${deleteCommand(failing, { kind, name })}`,
  ],
  [
    /exceeded quota: ([^,\s]+)/,
    (_, [quota]) => `raise ResourceQuota "${quota}", or request less: core continues by itself`,
  ],
  [
    /admission webhook "([^"]+)" denied the request|ValidatingAdmissionPolicy '([^']+)'/,
    (_, [webhook, policy]) =>
      `${webhook === undefined ? `policy "${policy}"` : `webhook "${webhook}"`} refuses an object of the bundle, and its message says why: correct the content, or let the owner of the rule change it`,
  ],
  [
    /failed calling webhook "([^"]+)"/,
    (_, [webhook]) =>
      `webhook "${webhook}" does not answer: repair it (docs/howto/troubleshooting.md#a-webhook-cannot-be-reached)`,
  ],
  [
    /exists and cannot be imported into the current release/,
    () =>
      'these objects have other owners: the message of condition Installed ends with the commands (docs/howto/ownership.md)',
  ],
  [
    /namespaces "([^"]+)" not found/,
    (_, [namespace]) =>
      `kubectl create namespace ${namespace}: core continues by itself within a minute`,
  ],
  [
    /no matches for kind "ClusterServiceVersion"/,
    ({ name }) =>
      `this is an operator: rukpakctl run --bundle-provisioner-class core-rukpak-io-registry ${name} <directory>, or that class as spec.template.spec.provisionerClassName (docs/howto/operators.md)`,
  ],
  [
    /no matches for kind "/,
    () =>
      'install the provider of the kinds that the condition names: core continues by itself within a minute',
  ],
  [
    /AllNamespace install mode must be enabled/,
    ({ name }) =>
      `the operator watches only single namespaces: name one in spec.config.watchNamespace of BundleDeployment "${name}" (docs/howto/operators.md; rukpakctl validate lists the supported modes)`,
  ],
  [
    /do not support target|parse deployment config:/,
    ({ name }) =>
      `correct spec.config of BundleDeployment "${name}" as the condition says: rukpakctl render --config tests another one without the cluster`,
  ],
  [
    /needs APIs that the cluster does not serve/,
    () => 'install what the condition names: core then continues by itself',
  ],
  [
    /needs Kubernetes \S+ or later/,
    () => 'upgrade the cluster, or put an earlier version of the operator into spec.template',
  ],
  [
    /--certificates=|no cert-manager/,
    () =>
      'core cannot issue the certificates: the condition names what to install, or a flag for core',
  ],
  [
    /annotation core\.rukpak\.io\/(?:serving-certificate|inject-ca-from)/,
    () =>
      'correct the annotation that the condition names, in the content (docs/howto/certificates.md)',
  ],
];

/** A class's failure names the class, whatever its message, so class causes come first. */
export const deploymentCauses: readonly Cause[] = [...classCauses, ...installCauses];
const bundleCauses: readonly Cause[] = [...deploymentCauses, ...sourceCauses];

/** The remedy for a deployment's failure, by its message; undefined when none is known. */
export function cureOfDeployment(message: string, failing: Failing): string | undefined {
  return cureAmong(deploymentCauses, { message, failing });
}

/** The remedy for a Bundle's failure, which may come from its source as well. */
export function cureOfBundle(message: string, failing: Failing): string | undefined {
  return cureAmong(bundleCauses, { message, failing });
}

function cureAmong(
  causes: readonly Cause[],
  { message, failing }: { readonly message: string; readonly failing: Failing },
): string | undefined {
  for (const [text, cure] of causes) {
    const match = text.exec(message);
    if (match !== null) return cure(failing, match.slice(1));
  }
  return undefined;
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

function deleteCommand({ objects }: Failing, named: Named): string {
  const found = objects.items.find(({ kind, name }) => kind === named.kind && name === named.name);
  const object =
    found === undefined ? `${named.kind.toLowerCase()} ${named.name}` : objectArguments(found);
  return `kubectl delete ${object}`;
}
