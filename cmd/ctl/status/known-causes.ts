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
    /no manager reconciles this (\w+): either class "([^"]*)" is misspelt.* This one serves (.*?)(?: \(Bundle |$)/,
    ({ name }, [kind = '', className, served]) =>
      `correct ${fields[kind]} of BundleDeployment "${name}" (core serves ${served}), or start the manager that serves class "${className}": rukpakctl verify looks at core`,
  ],
  [
    /class "([^"]+)" at (\S+?)(?: answered (?:429|50[234])|: .*(?:refused|no such host|reset|closed|timed out|ECONN|unreachable))/,
    (_, [className, url]) =>
      `start the server of class "${className}", or correct its address ${url} in --provisioner-url of core: it goes on by itself within a minute`,
  ],
  [
    /class "([^"]+)" at (\S+?) answered (\S+)/,
    (_, [className, url, status]) =>
      `look at the log of the server of class "${className}" at ${url}, which answered ${status} (docs/howto/provisioner-over-http.md)`,
  ],
  [
    /class "[^"]+", (\w+)\(\): it needs what a class may not have/,
    () =>
      'have the class work on the files that it is given: it may read its own package and nothing else of the machine (docs/howto/run-a-provisioner.md)',
  ],
  [
    /class "([^"]+)", (\w+)\(\): /,
    ({ name }, [className, handler]) =>
      `${handler}() of class "${className}" fails: where its message blames the config, correct spec.config of BundleDeployment "${name}"; else its author mends it, and core's log has what it wrote`,
  ],
];

/** Failures of an installation or upgrade. */
const installCauses: readonly Cause[] = [
  [
    /lacks permissions that this takes/,
    ({ name }) =>
      `look at what "rukpakctl permissions ${name} --missing" prints, and have it applied by somebody who may grant it (docs/howto/service-accounts.md)`,
  ],
  [
    /ServiceAccount "([^"]+)" in namespace "([^"]+)", which spec\.serviceAccount names, does not exist/,
    (_, [account, namespace]) =>
      `kubectl create serviceaccount ${account} --namespace ${namespace}`,
  ],
  [
    /in namespace (\S+) because it is being terminated/,
    (_, [namespace]) =>
      `namespace "${namespace}" is being deleted: wait until it is gone (kubectl describe namespace ${namespace} says what holds it), then kubectl create namespace ${namespace} unless the bundle brings it. It goes on by itself`,
  ],
  [
    /cannot patch "([^"]+)" with kind (\w+): .*(?:immutable|may not (?:be )?change|updates to \w+ spec for fields other than)/s,
    (failing, [name = '', kind = '']) =>
      `the API server forbids changes to that field of a live ${kind}: put its former value back into the content, or have core make the object anew, with all that it holds: ${deleteCommand(failing, { kind, name })}`,
  ],
  [
    /exceeded quota: ([^,\s]+)/,
    (_, [quota]) => `have ResourceQuota "${quota}" raised, or ask for less: it goes on by itself`,
  ],
  [
    /admission webhook "([^"]+)" denied the request|ValidatingAdmissionPolicy '([^']+)'/,
    (_, [webhook, policy]) =>
      `${webhook === undefined ? `policy "${policy}"` : `webhook "${webhook}"`} refuses an object of the bundle, and its message says why: correct the content, or have the rule changed by those who made it`,
  ],
  [
    /failed calling webhook "([^"]+)"/,
    (_, [webhook]) =>
      `webhook "${webhook}" does not answer: bring it back (docs/howto/troubleshooting.md#a-webhook-cannot-be-reached)`,
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
    ({ name }) =>
      `this is an operator: rukpakctl run --bundle-provisioner-class core-rukpak-io-registry ${name} <directory>, or that class as spec.template.spec.provisionerClassName (docs/howto/operators.md)`,
  ],
  [
    /no matches for kind "/,
    () =>
      'install what brings the kinds that the condition names: it goes on by itself, within a minute',
  ],
  [
    /AllNamespace install mode must be enabled/,
    ({ name }) =>
      `the operator watches some namespaces only: say which in spec.config.watchNamespace of BundleDeployment "${name}" (docs/howto/operators.md; rukpakctl validate says what it supports)`,
  ],
  [
    /do not support target|parse deployment config:/,
    ({ name }) =>
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

/** A class's failure names the class, whatever its message, so class causes come first. */
const deploymentCauses: readonly Cause[] = [...classCauses, ...installCauses];
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
