import type { StatusReport } from './status-report.ts';

/** The parts of a deployment's failure on which the remedy depends. */
export type Failing = Pick<StatusReport, 'name' | 'systemNamespace' | 'deployment' | 'objects'>;

/** A failure by its text, and its remedy, which receives the groups of the text. */
export type Cause = readonly [
  text: RegExp,
  cure: (failing: Failing, groups: readonly (string | undefined)[]) => string,
];

const correct = 'spec.template.spec.source';
/** Where core looks for the Secrets of the template's source. */
function secretNamespace({ deployment: { spec }, systemNamespace }: Failing): string {
  return spec.serviceAccount?.namespace ?? systemNamespace;
}

/** The Secret in the template's source, for the middle of a sentence. */
function secretOf(failing: Failing): string {
  const { spec } = failing.deployment;
  const { image, git, http } = spec.template.spec.source;
  const { auth } = git ?? http ?? {};
  const name = image?.pullSecret ?? auth?.secret?.name;
  if (name === undefined) return 'a Secret that spec.template.spec.source names';
  return `Secret "${name}" in namespace ${secretNamespace(failing)}`;
}

/** The namespace of a Secret, from core's words for it: `the system namespace` or `namespace "team-a"`. */
function namespaceIn({ systemNamespace }: Failing, place = ''): string {
  return /"([^"]+)"/.exec(place)?.[1] ?? systemNamespace;
}

/** Problems of the Secret itself, before those of the server that asks for its content. */
const secretCauses: readonly Cause[] = [
  [
    /Secret "([^"]+)" cannot be read with the permissions of ServiceAccount ([^/\s]+)\/([^/\s,]+)/,
    (_, [name, namespace, account]) =>
      `allow the account to read it: kubectl create role read-${name} --namespace ${namespace} --verb=get --resource=secrets --resource-name=${name}, and kubectl create rolebinding read-${name} --namespace ${namespace} --role=read-${name} --serviceaccount=${namespace}:${account}`,
  ],
  [
    /Secret "([^"]+)" of (.+?) (?:names no hosts|is not for host)/,
    (failing, [name, place]) =>
      `annotate Secret "${name}" in namespace ${namespaceIn(failing, place)} with the hosts that may see it: core.rukpak.io/source-hosts (docs/howto/git.md#the-secret)`,
  ],
  [
    /pull secret "([^"]+)" of (.+?) is of type /,
    (failing, [name, place]) => {
      const secret = `${name} --namespace ${namespaceIn(failing, place)}`;
      return `the type of a Secret cannot be changed: kubectl delete secret ${secret}, and kubectl create secret docker-registry ${secret} … (docs/howto/private-registries.md)`;
    },
  ],
  [
    /[Ss]ecret "([^"]+)"(?: of (.+?))?(?:: its key| has no key| cannot be read:)/,
    (failing, [name, place]) =>
      `correct ${place === undefined ? secretOf(failing) : `Secret "${name}" in namespace ${namespaceIn(failing, place)}`} as the message says: core retries by itself`,
  ],
  [
    /[Ss]ecret "([^"]+)" not found(?: in (the system namespace|namespace "[^"]+"))?/,
    (failing, [name, place]) =>
      `create Secret "${name}" in namespace ${namespaceIn(failing, place)} with the keys that ${correct} needs: core continues by itself (docs/howto/private-registries.md)`,
  ],
];

/** Why a Bundle has no content: messages of sources' servers, from the network to the content. */
export const sourceCauses: readonly Cause[] = [
  ...secretCauses,
  [
    /certificate has expired|CERT_HAS_EXPIRED/,
    () => 'give the server a new certificate: core retries by itself',
  ],
  [
    /certificate is for another host|ALTNAME_INVALID|Hostname\/IP does not match/,
    () => `use a name of the server's certificate in ${correct}`,
  ],
  [
    /certificate is not trusted|self-signed certificate|unable to (?:verify|get) .*certificate|unknown authority/,
    (failing) =>
      `make core trust the server: put its CA as ca.crt into ${secretOf(failing)} (docs/howto/private-registries.md#certificates)`,
  ],
  [
    /does not speak TLS/,
    () => 'core uses plain HTTP only for registries that --insecure-registry names',
  ],
  [
    /denies access to repository (\S+) without credentials/,
    (failing) =>
      `kubectl create secret docker-registry NAME --namespace ${secretNamespace(failing)} …, and name it in ${correct}.image.pullSecret of BundleDeployment "${failing.name}" (docs/howto/private-registries.md)`,
  ],
  [
    /["(]40[13]\b|denies access|[Uu]nauthorized|auth(?:entication|orization) (?:failed|required)|Auth error: /,
    (failing) =>
      `correct the credentials in ${secretOf(failing)}: core retries by itself (docs/howto/private-registries.md)`,
  ],
  [
    /private, loopback or other denied address/,
    () => 'an admin may allow the address: --allow-source-address of core (docs/howto/limits.md)',
  ],
  [/\bproxy\b.* 407/, () => 'put user and password of the proxy into HTTPS_PROXY of core'],
  [
    /has no "([^"]+)" in repository (\S+)/,
    (_, [tag, repository]) =>
      `push ${repository}:${tag}, which core then finds by itself, or correct ${correct}.image.ref`,
  ],
  [
    /couldn't find remote ref "([^"]+)"/,
    (_, [ref]) => `push ${ref}, or correct ${correct}.git.ref`,
  ],
  [
    /unexpected (?:response )?status "?404/,
    () => `put the archive at the URL in ${correct}.http.url, or correct the URL`,
  ],
  [
    /ConfigMap "([^"]+)" not found/,
    ({ systemNamespace }, [name]) =>
      `create it: kubectl create configmap ${name} --namespace ${systemNamespace} --from-file … (immutable). Core continues by itself`,
  ],
  [
    /connection refused|no such host|timed out|no answer in time|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EAI_AGAIN|the proxy (?:answered|closed)/,
    ({ deployment }) =>
      `core cannot reach the server of its ${deployment.spec.template.spec.source.type} source: check name, DNS, firewall and proxy (HTTPS_PROXY of core, not of the nodes). Core retries by itself`,
  ],
  [
    /error parsing (\S+): .*?line (\d+)/,
    (_, [file, line]) =>
      `correct line ${line} of ${file} in the content, publish it, and put the new reference into ${correct} (rukpakctl validate finds the rest beforehand)`,
  ],
  [
    /has the digest \S+ (?:instead of|but) /,
    () =>
      `the content has changed since core pinned it: find out who changed it, and put the reference of trusted content into ${correct}`,
  ],
];
