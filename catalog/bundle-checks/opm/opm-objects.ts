import { gvkOf } from '../../../api/gvk.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleFiles } from '../../../core/contracts/bundle-files.ts';
import { bundleContent, type LocatedObject, scalarText } from '../bundle-content.ts';
import { crd } from '../objects/crd.ts';
import { csv } from '../objects/csv.ts';
import { operatorHub } from '../optional/operator-hub.ts';
import type { Finding } from '../problem.ts';
import type { OpmFile } from './opm-files.ts';

export interface OpmContent {
  readonly files: BundleFiles;
  /** The type that opm detects. */
  readonly type: string | undefined;
  readonly optional: readonly string[];
  readonly log: (level: 'debug' | 'warning', message: string) => void;
}

/** opm's errors for the objects of a bundle: file by file, then for all of them together. */
export function opmObjectErrors(files: readonly OpmFile[], content: OpmContent): readonly string[] {
  const errors = files.flatMap((file) => fileErrors(file, content));
  const objects = files.flatMap(({ object }) => object ?? []);
  if (objects.length > 0) errors.push(...bundleErrors(objects));
  const last = objects.findLast(({ kind }) => kind === 'ClusterServiceVersion');
  if (content.optional.includes('operatorhub')) {
    content.log('debug', 'Performing operatorhub validation');
    if (last !== undefined) errors.push(...hubErrors(last, content));
  }
  if (content.optional.includes('bundle-objects')) {
    // No errors: opm passes the objects to its validator in a form that the validator ignores.
    content.log('debug', 'Performing bundle objects validation');
  }
  return errors;
}

function fileErrors(file: OpmFile, content: OpmContent): readonly string[] {
  const { name, object, kind, isDirectory, problem } = file;
  if (isDirectory === true) return [`Unable to read file manifests/${name} in supported types`];
  if (object === undefined) return [problem ?? 'EOF'];
  const { group, version } = gvkOf(object);
  content.log('debug', `Validating "${group}/${version}, Kind=${kind}" from file "${name}"`);
  if (content.type === 'registry+v1' && !supportedKinds.has(kind)) {
    return [`${kind} is not supported type for registryV1 bundle: manifests/${name}`];
  }
  const located = { file: `manifests/${name}`, document: 0, object };
  if (kind === 'ClusterServiceVersion') return csvErrors(located, content);
  if (kind === 'CustomResourceDefinition') return crdErrors(located, content);
  return metadataErrors(object);
}

const supportedKinds: ReadonlySet<string> = new Set(
  `ClusterServiceVersion CustomResourceDefinition ClusterRole ClusterRoleBinding Service ServiceAccount Role
   RoleBinding PrometheusRule ServiceMonitor Secret ConfigMap PodDisruptionBudget PriorityClass
   VerticalPodAutoscaler ConsoleYAMLSample ConsoleQuickStart ConsoleCLIDownload ConsoleLink ConsolePlugin
   NetworkPolicy PodMonitor`.split(/\s+/),
);

function csvErrors(located: LocatedObject, { files }: OpmContent): readonly string[] {
  const content = { ...bundleContent(files, []), csv: located };
  const name = stringAt(located.object.metadata, 'name') ?? '';
  return errorsOf(csv.find(content, {})).map((message) => {
    const hasValue = /^(?:Field|Value) /.test(message);
    return `Error: ${hasValue ? message : csvText(name, message)}`;
  });
}

function csvText(name: string, message: string): string {
  if (message.startsWith('provided annotation')) return `Value ${name}: ${message}`;
  if (message.startsWith("couldn't parse plural.group")) return `: ${message}`;
  return `Value : (${name}) ${message}`;
}

const oldDefinition =
  'GroupVersionKind apiextensions.k8s.io/v1beta1, Kind=CustomResourceDefinition was deprecated in Kubernetes 1.16+, removed in 1.22. Support' +
  'for apiextensions.k8s.io/v1beta1 CustomResourceDefinitions will be removed in the future in favor of apiextensions.k8s.io/v1 CustomResourceDefinitions.';

function crdErrors(located: LocatedObject, { files, log }: OpmContent): readonly string[] {
  const { apiVersion } = located.object;
  if (apiVersion === 'apiextensions.k8s.io/v1beta1') {
    log('warning', oldDefinition);
    return definitionErrors({ ...located, object: asV1(located.object) }, files);
  }
  if (apiVersion !== 'apiextensions.k8s.io/v1') {
    return [`Unsupported api version of CRD: ${apiVersion}`];
  }
  return definitionErrors(located, files);
}

/** A v1beta1 CRD as the API server reads it: with one version, and unknown fields preserved. */
function asV1(object: KubernetesObject): KubernetesObject {
  const spec = mapOf(object['spec']);
  const { version, versions = [{ name: version, served: true, storage: true }] } = spec;
  const defaults = { scope: 'Namespaced', preserveUnknownFields: true };
  return {
    ...object,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: { ...defaults, ...spec, versions },
  };
}

function definitionErrors(located: LocatedObject, files: BundleFiles): readonly string[] {
  const { metadata } = located.object;
  const content = { ...bundleContent(files, []), crds: [located] };
  const place = metadata.namespace === undefined ? [] : [`metadata.namespace: ${notAllowed}`];
  return [...place, ...errorsOf(crd.find(content, {}))]
    .filter((message) => !/^[^:]*(?:openAPIV3Schema|status)/.test(message))
    .map((message) => `Error: Field ${fieldOf(message)}, Value ${valueOf(message)}: ${message}`);
}

const notAllowed = 'Forbidden: not allowed on this type';

function fieldOf(message: string): string {
  return /^(.*?): (?:Required|Invalid|Unsupported|Forbidden|Duplicate)/.exec(message)?.[1] ?? '';
}

/** The invalid value in an error, without quotes; for a Go pointer it is a meaningless address. */
function valueOf(message: string): string {
  const quoted = /: (?:Invalid|Unsupported) value: "([^"]*)"/.exec(message)?.[1];
  return quoted ?? /: Invalid value: (\w+|\[\]):/.exec(message)?.[1] ?? '';
}

function metadataErrors(object: KubernetesObject): readonly string[] {
  const { name, generateName, namespace } = mapOf(object.metadata);
  const problems: string[] = [];
  if (!name && !generateName) {
    problems.push('metadata.name: Required value: name or generateName is required');
  }
  if (namespace) problems.push(`metadata.namespace: ${notAllowed}`);
  if (problems.length === 0) return [];
  const all = problems.length === 1 ? problems.join('') : `[${problems.join(', ')}]`;
  return [`error validating object metadata: ${all}. ${metadataText(object)}`];
}

function hubErrors(object: KubernetesObject, { files }: OpmContent): readonly string[] {
  const located = { file: '', document: 0, object };
  const name = stringAt(object.metadata, 'name') ?? '';
  const content = { ...bundleContent(files, []), csv: located };
  return errorsOf(operatorHub.find(content, {})).map(
    (message) => `Error: Value : (${name}) ${message}`,
  );
}

function errorsOf(findings: readonly Finding[]): readonly string[] {
  return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

interface Definition {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly version: string;
}

/** Errors between CSV and objects. For opm, an owned CRD with a field `group` never matches. */
function bundleErrors(objects: readonly KubernetesObject[]): readonly string[] {
  const csvs = objects.filter(({ kind }) => kind === 'ClusterServiceVersion');
  const bundle = stringAt(csvs.at(-1)?.metadata, 'name') ?? '';
  const present = new Set(objects.flatMap(versionsOf).map(keyText));
  const missing = listOf(fieldAt(csvs[0]?.['spec'], 'customresourcedefinitions', 'owned'))
    .map(definitionOf)
    .filter((owned) => !present.has(keyText(owned)))
    .map((owned) => {
      const { name, group, version, kind } = owned;
      const called = name === '' ? `${group}/${version} ${kind}` : `${name}/${version}`;
      return `Error: Value ${keyText(owned)}: owned CRD ${called} not found in bundle "${bundle}"`;
    });
  return [...missing, ...substitutionErrors(csvs[0], bundle)];
}

function substitutionErrors(csv: KubernetesObject | undefined, bundle: string): readonly string[] {
  const release = scalarText(fieldAt(csv?.['spec'], 'release'));
  const substituted = stringAt(csv?.metadata, 'annotations', 'olm.substitutesFor') ?? '';
  if (release === '' || substituted === '') return [];
  const both = `both a release version ("${release}") and olm.substitutesFor annotation ("${substituted}")`;
  return [`Error: Value {   }: bundle "${bundle}" cannot have ${both}`];
}

function definitionOf(entry: unknown): Definition {
  const text = (field: string): string => stringAt(entry, field) ?? '';
  return { group: text('group'), kind: text('kind'), name: text('name'), version: text('version') };
}

function versionsOf(object: KubernetesObject): readonly Definition[] {
  if (object.kind !== 'CustomResourceDefinition') return [];
  const spec = object['spec'];
  const kind = stringAt(spec, 'names', 'kind') ?? '';
  const listed = listOf(fieldAt(spec, 'versions')).map((each) => stringAt(each, 'name') ?? '');
  const single = stringAt(spec, 'version') ?? '';
  const versions = object.apiVersion.endsWith('/v1beta1') && single !== '' ? [single] : listed;
  const name = stringAt(object.metadata, 'name') ?? '';
  return versions.map((version) => ({ group: '', kind, name, version }));
}

/** The key as Go prints it. */
function keyText({ group, kind, name, version }: Definition): string {
  return `{${group} ${kind} ${name} ${version}}`;
}

const zeroTime = '0001-01-01 00:00:00 +0000 UTC';

/** Kind and metadata as opm prints them after an error: Go's text of its structs. */
function metadataText({ kind, apiVersion, metadata }: KubernetesObject): string {
  const fields = mapOf(metadata);
  const texts = ['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'].map(
    (field) => scalarText(fields[field]),
  );
  const maps = ['labels', 'annotations'].map((field) => mapText(fields[field]));
  const finalizers = listOf(fields['finalizers']).map(scalarText).join(' ');
  const generation = scalarText(fields['generation']) || '0';
  const values = [
    ...texts,
    generation,
    zeroTime,
    '<nil>',
    '<nil>',
    ...maps,
    '[]',
    `[${finalizers}]`,
  ];
  return `&{{${kind} ${apiVersion}} {${values.join(' ')} []}}`;
}

/** Go prints a map in the order of its keys. */
function mapText(value: unknown): string {
  if (!isMap(value)) return 'map[]';
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, each]) => `${key}:${scalarText(each)}`).join(' ')}]`;
}
