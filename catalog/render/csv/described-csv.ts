import type { JsonObject, JsonValue } from '../../../api/json.ts';
import {
  decodeAs,
  htmlEscaped,
  type Icon,
  listOfShape,
  type RelatedImage,
  type Shape,
  struct,
  text,
  textMap,
  writeAs,
} from '../../blobs/index.ts';
import { crds, metadata, services, shown } from './csv-metadata.ts';

/** Fields for a ClusterServiceVersion if the catalog has only a description of the bundle. */
export interface DescribedBundle {
  readonly name: string;
  /** In the form of `versionText`. */
  readonly version: string;
  /** As `describedMetadata` reads it. */
  readonly metadata: JsonObject;
  /** Icon of the package. */
  readonly icon: Icon | undefined;
  /** Description of the package, for a bundle without its own. */
  readonly description: string;
  readonly relatedImages: readonly RelatedImage[];
}

/**
 * The value of a property `olm.csv.metadata`, by the fields of its type.
 * @throws TerminalError `json: cannot unmarshal …` for a value of the wrong type.
 */
export function describedMetadata(value: JsonValue): JsonObject {
  return (decodeAs(metadata, value) ?? {}) as JsonObject;
}

/**
 * A ClusterServiceVersion that describes an operator and installs nothing, as JSON: exactly the
 * bytes that operator-registry serves.
 */
export function describedCsv(bundle: DescribedBundle): string {
  const { apiServiceDefinitions, crdDescriptions, annotations, labels, ...rest } = bundle.metadata;
  const { icon, relatedImages } = bundle;
  const text = htmlEscaped(
    writeAs(serviceVersion, {
      kind: 'ClusterServiceVersion',
      apiVersion: 'operators.coreos.com/v1alpha1',
      metadata: { name: bundle.name, ...present({ labels, annotations }) },
      spec: {
        ...rest,
        ...present({ apiservicedefinitions: apiServiceDefinitions }),
        ...present({ customresourcedefinitions: crdDescriptions }),
        install: { strategy: 'deployment', spec: {} },
        version: bundle.version,
        description: rest['description'] || bundle.description,
        icon: icon === undefined ? [] : [{ base64data: '', mediatype: icon.mediatype }],
        relatedImages: relatedImages.map(({ name, image }) => ({ name, image })),
        cleanup: { enabled: false },
      },
      status: {},
    }),
  );
  return icon === undefined ? text : withIcon(text, icon);
}

const emptyIcon = '"icon":[{"base64data":"';

/** A package's icon is in all its bundles, may be most of their text, and needs no escapes. */
function withIcon(text: string, { base64data }: Icon): string {
  const at = text.lastIndexOf(emptyIcon) + emptyIcon.length;
  return `${text.slice(0, at)}${base64data ?? ''}${text.slice(at)}`;
}

function present(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

const deployments: Shape = { kind: 'list', of: text, type: '[]v1alpha1.StrategyDeploymentSpec' };

/** In the order of Go's type, without fields that are never set here. */
const serviceVersion = struct(
  'v1alpha1.ClusterServiceVersion',
  {
    kind: text,
    apiVersion: text,
    metadata: struct('v1.ObjectMeta', { name: text, labels: textMap, annotations: textMap }),
    spec: struct(
      'v1alpha1.ClusterServiceVersionSpec',
      {
        install: struct(
          'v1alpha1.NamedInstallStrategy',
          {
            strategy: text,
            spec: struct('v1alpha1.StrategyDetailsDeployment', { deployments }, ['deployments']),
          },
          ['strategy'],
        ),
        version: text,
        maturity: shown.maturity,
        customresourcedefinitions: crds,
        apiservicedefinitions: services,
        nativeAPIs: shown.nativeAPIs,
        minKubeVersion: shown.minKubeVersion,
        displayName: shown.displayName,
        description: shown.description,
        keywords: shown.keywords,
        maintainers: shown.maintainers,
        provider: shown.provider,
        links: shown.links,
        icon: listOfShape(
          struct('v1alpha1.Icon', { base64data: text, mediatype: text }, [
            'base64data',
            'mediatype',
          ]),
        ),
        installModes: shown.installModes,
        cleanup: struct('v1alpha1.CleanupSpec', { enabled: { kind: 'boolean' } }, ['enabled']),
        relatedImages: listOfShape(
          struct('v1alpha1.RelatedImage', { name: text, image: text }, ['name', 'image']),
        ),
      },
      ['version', 'displayName'],
    ),
    status: struct('v1alpha1.ClusterServiceVersionStatus', {
      cleanup: struct('v1alpha1.CleanupStatus', {}),
    }),
  },
  ['kind', 'apiVersion'],
);
