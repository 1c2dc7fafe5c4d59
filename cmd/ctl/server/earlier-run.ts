import type { JsonObject } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, mapOf, stringAt } from '../../../api/json-fields.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { TerminalError } from '../../../core/errors.ts';
import { plainClass, registryClass } from '../../../provisioners/class-of-content.ts';
import type { UploadedDeployment } from './uploaded-deployment.ts';

/** The field manager of commands that apply deployments. */
export const fieldManager = 'rukpakctl';

export interface PlaceRequest extends Pick<UploadedDeployment, 'name' | 'bundleClass' | 'config'> {
  /** Namespace that the user names. For an operator, it is part of the config. */
  readonly namespace?: string | undefined;
}

interface Place extends Pick<UploadedDeployment, 'config' | 'installNamespace'> {
  /** For the user; what earlier runs have set, and this one does not name. */
  readonly kept: readonly string[];
}

/**
 * The config and the namespace to apply. Server-side apply removes what earlier runs set and this
 * one omits: a run that names no config keeps theirs, and likewise for the namespace. The fields
 * of other clients stay in any case.
 * @throws TerminalError when the config would move an operator out of its namespace
 */
export function placeOf(request: PlaceRequest, before: BundleDeployment | undefined): Place {
  const earlier = setByRuns(before);
  const named = namedBy(request);
  const config = { ...(request.config ?? earlier.config), ...named.config };
  const installNamespace = named.installNamespace ?? earlier.installNamespace;
  if (before !== undefined) checkPlace({ ...request, config }, before);
  return {
    // Without the field, the classes read the same.
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...(installNamespace === undefined ? {} : { installNamespace }),
    kept: [
      ...(request.config === undefined ? keptConfig(earlier, named) : []),
      ...(named.installNamespace === undefined ? keptNamespace(earlier) : []),
    ],
  };
}

/** For an operator, the namespace is part of its config; otherwise of the deployment. */
function namedBy({ bundleClass, namespace }: PlaceRequest): Omit<Place, 'kept'> {
  if (namespace === undefined) return {};
  return bundleClass === registryClass
    ? { config: { installNamespace: namespace } }
    : { installNamespace: namespace };
}

function keptConfig(
  { config = {} }: Pick<Place, 'config'>,
  named: Pick<Place, 'config'>,
): readonly string[] {
  const names = Object.keys(config).filter((name) => !Object.hasOwn(named.config ?? {}, name));
  if (names.length === 0) return [];
  return [`keeps ${names.join(', ')} of spec.config: remove them with --config '{}'`];
}

function keptNamespace({ installNamespace }: Pick<Place, 'installNamespace'>): readonly string[] {
  if (installNamespace === undefined) return [];
  return [`keeps spec.installNamespace "${installNamespace}": name another one with -n`];
}

/** Classes that the user names; undefined for those that the user leaves open. */
export type NamedClasses = Partial<Classes>;

type Classes = Pick<UploadedDeployment, 'bundleClass' | 'deploymentClass'>;

/**
 * The classes to apply. An upload replaces content and not what reads it: an operator that is
 * unpacked as plain content loses what its class makes of it.
 */
export function classesOf(
  { bundleClass, deploymentClass }: NamedClasses,
  before: BundleDeployment | undefined,
): Classes & { readonly kept: readonly string[] } {
  const { provisionerClassName: ofDeployment = plainClass, template } = before?.spec ?? {};
  const ofBundle = template?.spec.provisionerClassName ?? plainClass;
  return {
    bundleClass: bundleClass ?? ofBundle,
    deploymentClass: deploymentClass ?? ofDeployment,
    kept: [
      ...(bundleClass === undefined ? keptClass(ofBundle, '--bundle-provisioner-class') : []),
      ...(deploymentClass === undefined
        ? keptClass(ofDeployment, '--bundle-deployment-provisioner-class')
        : []),
    ],
  };
}

function keptClass(className: string, flag: string): readonly string[] {
  if (className === plainClass) return [];
  return [`keeps class "${className}": name another one with ${flag}`];
}

/**
 * Core would install the operator elsewhere, and prune it from its namespace.
 * @throws TerminalError that names the flag.
 */
function checkPlace({ name, bundleClass, config }: PlaceRequest, before: BundleDeployment): void {
  if (bundleClass !== registryClass || fieldAt(config, 'installNamespace') !== undefined) return;
  const place = stringAt(before.spec.config, 'installNamespace') ?? '';
  if (place === '' || !hasOwnPlace(before)) return;
  throw new TerminalError(
    `nothing is applied: an earlier run set spec.config.installNamespace of BundleDeployment "${name}" to "${place}", and this one would remove it and so move the operator: pass -n ${place}, or name another namespace to move it`,
  );
}

/** Whether only earlier runs own the field: the API server keeps those that others own as well. */
function hasOwnPlace(deployment: BundleDeployment): boolean {
  const owners = managedFieldsOf(deployment).filter(
    (entry) => fieldAt(entry, 'fieldsV1', 'f:spec', 'f:config', 'f:installNamespace') !== undefined,
  );
  return owners.length > 0 && owners.every(isOfRuns);
}

function managedFieldsOf(deployment: BundleDeployment | undefined): readonly unknown[] {
  return listOf(fieldAt(deployment?.metadata, 'managedFields'));
}

function isOfRuns(entry: unknown): boolean {
  return stringAt(entry, 'manager') === fieldManager && stringAt(entry, 'operation') === 'Apply';
}

/** Whether a command has applied the deployment. */
export function isAppliedByCtl(deployment: BundleDeployment): boolean {
  return managedFieldsOf(deployment).some(isOfRuns);
}

/** What earlier runs own of the spec. */
function setByRuns(before: BundleDeployment | undefined): Omit<Place, 'kept'> {
  const entry = managedFieldsOf(before).find(isOfRuns);
  const fields = mapOf(fieldAt(entry, 'fieldsV1', 'f:spec'));
  const spec = mapOf(ownPart(before?.spec, fields));
  const { config, installNamespace } = spec;
  return {
    ...(isMap(config) ? { config } : {}),
    ...(typeof installNamespace === 'string' ? { installNamespace } : {}),
  };
}

/** The part of a value that a tree of fieldsV1 names; a leaf names all of it, as it does lists. */
function ownPart(value: unknown, fields: JsonObject): unknown {
  const names = Object.keys(fields).filter((key) => key.startsWith('f:'));
  if (!isMap(value) || Object.keys(fields).length === 0) return value;
  const present = names.filter((key) => Object.hasOwn(value, key.slice(2)));
  return Object.fromEntries(
    present.map((key) => [key.slice(2), ownPart(value[key.slice(2)], mapOf(fields[key]))]),
  );
}
