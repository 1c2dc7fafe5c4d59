import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { TerminalError } from '../../errors.ts';
import { isTrustHolder } from './trust.ts';

/** A Secret for a serving certificate. */
export interface WantedCertificate {
  readonly namespace: string;
  readonly name: string;
  /** DNS names of the Services that use it, in their order. */
  readonly hosts: readonly string[];
  readonly services: readonly KubernetesObject[];
}

/** The certificates that the annotations of a set of objects ask for. */
export interface WantedCertificates {
  /** By `<namespace>/<name>` of the Secret. */
  readonly secrets: ReadonlyMap<string, WantedCertificate>;
  /** By object, the key of the Secret whose authorities it must trust. */
  readonly holders: ReadonlyMap<KubernetesObject, string>;
}

const listedProblems = 20;

/**
 * Maximum number per deployment: each takes time to make and to check at every reconcile, which
 * other deployments then lack.
 */
const maxServices = 100;

/** A DNS subdomain, as the API server requires for names of Secrets. */
const secretName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Reads the annotations; undefined without any. Objects without a namespace are in
 * `systemNamespace`.
 * @throws TerminalError that names each invalid annotation and its remedy.
 */
export function wantedCertificates(
  objects: readonly KubernetesObject[],
  systemNamespace: string,
): WantedCertificates | undefined {
  const annotated = objects.filter(isAnnotated);
  if (annotated.length === 0) return undefined;
  checkCount(annotated);
  const problems: string[] = [];
  const secrets = secretsOf(annotated, { systemNamespace, problems });
  const holders = new Map<KubernetesObject, string>();
  for (const object of annotated) {
    const source = annotationOf(object, annotation.injectCaFrom);
    if (source === undefined) continue;
    const problem = holderProblem(object, source, secrets);
    if (problem === undefined) holders.set(object, source);
    else problems.push(problem);
  }
  problems.push(...takenNames(objects, { secrets, systemNamespace }));
  if (problems.length > 0) throw new TerminalError(problems.slice(0, listedProblems).join(' && '));
  return { secrets, holders };
}

/** `<Kind> "<name>"`, with its namespace if it has one. */
function described({ kind, metadata: { namespace, name } }: KubernetesObject): string {
  return `${kind} "${name}"${namespace === undefined ? '' : ` in namespace "${namespace}"`}`;
}

function isAnnotated(object: KubernetesObject): boolean {
  return (
    annotationOf(object, annotation.servingCertificate) !== undefined ||
    annotationOf(object, annotation.injectCaFrom) !== undefined
  );
}

/** The API server refuses an annotation that is not a text, with its own message. */
function annotationOf({ metadata }: KubernetesObject, key: string): string | undefined {
  const value = mapOf(metadata.annotations)[key];
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
}

function checkCount(annotated: readonly KubernetesObject[]): void {
  const { length: count } = annotated.filter(
    (object) => annotationOf(object, annotation.servingCertificate) !== undefined,
  );
  if (count <= maxServices) return;
  throw new TerminalError(
    `${count} Services are annotated with ${annotation.servingCertificate}, more than ${maxServices}: remove the annotation from Services that do not serve TLS, or split the bundle`,
  );
}

interface Gathering {
  readonly systemNamespace: string;
  readonly problems: string[];
}

function secretsOf(
  annotated: readonly KubernetesObject[],
  { systemNamespace, problems }: Gathering,
): ReadonlyMap<string, WantedCertificate> {
  const secrets = new Map<string, WantedCertificate>();
  for (const object of annotated) {
    const name = annotationOf(object, annotation.servingCertificate);
    if (name === undefined) continue;
    const problem = serviceProblem(object, name);
    if (problem !== undefined) {
      problems.push(problem);
      continue;
    }
    const namespace = object.metadata.namespace || systemNamespace;
    const key = `${namespace}/${name}`;
    const { hosts = [], services = [] } = secrets.get(key) ?? {};
    const own = hostsOf(object.metadata.name ?? '', namespace);
    secrets.set(key, {
      namespace,
      name,
      hosts: [...new Set([...hosts, ...own])],
      services: [...services, object],
    });
  }
  return secrets;
}

/** DNS names with which the API server and other clients in the cluster call a Service. */
function hostsOf(service: string, namespace: string): readonly string[] {
  const host = `${service}.${namespace}`;
  return [host, `${host}.svc`, `${host}.svc.cluster.local`];
}

function serviceProblem(object: KubernetesObject, name: string): string | undefined {
  const where = `annotation ${annotation.servingCertificate} of ${described(object)}`;
  if (object.kind !== 'Service' || object.apiVersion !== 'v1') {
    return `${where}: core makes certificates for Services only; remove the annotation`;
  }
  if (secretName.test(name)) return undefined;
  return `${where} is ${shown(name)}: it must be the name of a Secret, such as "webhook-cert"`;
}

function holderProblem(
  object: KubernetesObject,
  source: string,
  secrets: ReadonlyMap<string, WantedCertificate>,
): string | undefined {
  const where = `annotation ${annotation.injectCaFrom} of ${described(object)}`;
  if (!isTrustHolder(object)) {
    return `${where}: only webhook configurations, CustomResourceDefinitions and APIServices have a CA bundle, remove the annotation`;
  }
  if (secrets.has(source)) return undefined;
  const way = `it must be <namespace>/<name> of a Secret that a Service of the same content names in its annotation ${annotation.servingCertificate}`;
  const [first] = secrets.keys();
  return `${where} is ${shown(source)}: ${way}${first === undefined ? '' : `, such as "${first}"`}`;
}

/** Secrets of the content with the name of a generated one. */
function takenNames(
  objects: readonly KubernetesObject[],
  {
    secrets,
    systemNamespace,
  }: Pick<WantedCertificates, 'secrets'> & Pick<Gathering, 'systemNamespace'>,
): readonly string[] {
  if (secrets.size === 0) return [];
  return objects.flatMap((object) => {
    if (object.kind !== 'Secret' || object.apiVersion !== 'v1') return [];
    const { namespace, name = '' } = object.metadata;
    const wanted = secrets.get(`${namespace || systemNamespace}/${name}`);
    const [service] = wanted?.services ?? [];
    if (service === undefined) return [];
    return [
      `${described(object)} is in the content, and annotation ${annotation.servingCertificate} of ${described(service)} asks for a Secret of that name too: remove one of the two`,
    ];
  });
}

function shown(value: string): string {
  return JSON.stringify(value).slice(0, 100);
}
