import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { fieldAt, isMap, listOf, stringAt } from '../../../api/json-fields.ts';
import { errorMessage, TerminalError } from '../../../core/errors.ts';
import {
  any,
  decodeAs,
  listOfShape,
  type Shape,
  struct,
  text,
  textMap,
} from '../../blobs/index.ts';
import { shortest } from '../go-number.ts';

/** An API in a ClusterServiceVersion: a CRD by its name, or an APIService. */
export interface ApiDefinition {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly version: string;
}

/**
 * A ClusterServiceVersion for rendering, which decodes each field on demand, with the errors of
 * upstream's types.
 */
export class ServiceVersion {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly #spec: JsonValue | undefined;

  /** @throws TerminalError for invalid metadata. */
  constructor(object: JsonObject) {
    const { metadata } = (decodeAs(header, object) ?? {}) as JsonObject;
    this.name = stringAt(metadata, 'name') ?? '';
    this.annotations = (isMap(metadata) ? metadata['annotations'] : undefined) as Record<
      string,
      string
    >;
    this.annotations ??= {};
    this.#spec = object['spec'];
  }

  /** `spec.version`, empty if absent. */
  version(): string {
    return (decodeAs(text, this.#field('version')) ?? '') as string;
  }

  release(): string {
    const value = this.#field('release');
    if (value === undefined || value === null) return '';
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'bigint') return shortNumber(Number(value));
    throw new TerminalError('release field must be a string or number');
  }

  /** APIs of `customresourcedefinitions` or `apiservicedefinitions`. */
  definitions(field: 'customresourcedefinitions' | 'apiservicedefinitions'): {
    readonly owned: readonly ApiDefinition[];
    readonly required: readonly ApiDefinition[];
  } {
    const decoded = (decodeAs(definitions, this.#field(field)) ?? {}) as JsonObject;
    return { owned: apis(decoded['owned']), required: apis(decoded['required']) };
  }

  /** APIServices, with upstream's error for an invalid spec. */
  apiServices(): ReturnType<ServiceVersion['definitions']> {
    this.#checkSpec('error unmarshaling into object map: ');
    return this.definitions('apiservicedefinitions');
  }

  relatedImages(): readonly { readonly name: string; readonly image: string }[] {
    return listOf(decodeAs(relatedImages, this.#field('relatedImages'))).map((each) => ({
      name: stringAt(each, 'name') ?? '',
      image: stringAt(each, 'image') ?? '',
    }));
  }

  /** Images of the containers and init containers of its deployments. */
  deploymentImages(): ReadonlySet<string> {
    const install = fieldAt(decodeAs(specOfImages, this.#spec), 'Install');
    if (stringAt(install, 'strategy') !== 'deployment') return new Set();
    const deployments = listOf(fieldAt(install, 'spec', 'Deployments'));
    const pods = deployments.map((each) => fieldAt(each, 'Spec', 'template', 'spec'));
    const used = pods.flatMap((pod) => [
      ...listOf(fieldAt(pod, 'containers')),
      ...listOf(fieldAt(pod, 'initContainers')),
    ]);
    return new Set(used.map((each) => stringAt(each, 'image') ?? ''));
  }

  icons(): readonly { readonly mediatype: string; readonly base64data: string }[] {
    return listOf(decodeAs(icons, this.#field('icon'))).map((each) => ({
      mediatype: stringAt(each, 'mediatype') ?? '',
      base64data: stringAt(each, 'base64data') ?? '',
    }));
  }

  description(): string {
    return (decodeAs(text, this.#field('description')) ?? '') as string;
  }

  #field(name: string): JsonValue | undefined {
    this.#checkSpec('');
    return isMap(this.#spec) ? this.#spec[name] : undefined;
  }

  #checkSpec(before: string): void {
    if (this.#spec === undefined) throw new TerminalError(`${before}unexpected end of JSON input`);
    try {
      decodeAs(members, this.#spec);
    } catch (error) {
      throw new TerminalError(`${before}${errorMessage(error)}`, { cause: error });
    }
  }
}

function apis(value: JsonValue | undefined): readonly ApiDefinition[] {
  return listOf(value).map((each) => ({
    group: stringAt(each, 'group') ?? '',
    kind: stringAt(each, 'kind') ?? '',
    name: stringAt(each, 'name') ?? '',
    version: stringAt(each, 'version') ?? '',
  }));
}

/** Integers in full, other numbers in Go's `%g` format. */
function shortNumber(value: number): string {
  const isWhole = Number.isInteger(value) && Math.abs(value) < 2 ** 63;
  return isWhole ? BigInt(value).toString() : shortest(value);
}

const objectMeta = struct('v1.ObjectMeta', {
  name: text,
  generateName: text,
  namespace: text,
  labels: textMap,
  annotations: textMap,
});

const header: Shape = struct('', { apiVersion: text, kind: text, metadata: objectMeta });

const members: Shape = { kind: 'map', of: any, type: 'map[string]*json.RawMessage' };

const definition = struct('registry.DefinitionKey', {
  group: text,
  kind: text,
  name: text,
  version: text,
});

const definitionsType =
  'struct { Owned []*registry.DefinitionKey "json:\\"owned\\""; Required []*registry.DefinitionKey "json:\\"required\\"" }';

const definitions: Shape = struct(definitionsType, {
  owned: listOfShape(definition, true),
  required: listOfShape(definition, true),
});

const relatedImages: Shape = listOfShape(
  struct('declcfg.RelatedImage', { name: text, image: text }),
);

const icons: Shape = listOfShape(
  struct('registry.Icon', { mediatype: text, base64data: { kind: 'bytes' } }),
);

const containers = listOfShape(struct('v1.Container', { image: text }));

const podTemplate = struct('v1.PodTemplateSpec', {
  spec: struct('v1.PodSpec', { containers, initContainers: containers }),
});

const deployment = struct('registry.dep', {
  Name: text,
  Spec: struct('v1.DeploymentSpec', {
    replicas: { kind: 'integer', type: 'int32' },
    template: podTemplate,
  }),
});

// Go's errors name fields without a tag by their names in Go.
const specOfImages: Shape = struct('registry.csvSpec', {
  Install: struct('registry.strategy', {
    strategy: text,
    spec: struct('registry.strategySpec', { Deployments: listOfShape(deployment) }),
  }),
});
