import type { z } from 'zod';
import type { KubernetesObject } from './meta.ts';
import { type StructuralSchema, structuralSchema } from './structural-schema.ts';
import { bundleSpecSchema, bundleStatusSchema } from './v1alpha1/bundle.ts';
import {
  bundleDeploymentSpecSchema,
  bundleDeploymentStatusSchema,
} from './v1alpha1/bundle-deployment.ts';
import { kstatusCondition } from './v1alpha1/conditions.ts';

/** The CustomResourceDefinition of Bundle. */
export function bundleCRD(): KubernetesObject {
  return crd({
    names: { kind: 'Bundle', listKind: 'BundleList', plural: 'bundles', singular: 'bundle' },
    description:
      'Bundle is immutable content of one source, fetched, checked and stored by its provisioner class.',
    nameMaxLength: 52,
    spec: bundleSchemaWithUnions(),
    status: bundleStatusSchema,
    printerColumns: [
      { name: 'Type', type: 'string', jsonPath: '.spec.source.type' },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      provisionerColumn,
      {
        name: 'Resolved Source',
        type: 'string',
        jsonPath: '.status.resolvedSource',
        priority: 1,
      },
      ...readyColumns,
    ],
  });
}

/** The CustomResourceDefinition of BundleDeployment. */
export function bundleDeploymentCRD(): KubernetesObject {
  return crd({
    names: {
      kind: 'BundleDeployment',
      listKind: 'BundleDeploymentList',
      plural: 'bundledeployments',
      shortNames: ['bd', 'bds'],
      singular: 'bundledeployment',
    },
    description:
      'BundleDeployment keeps the content of a Bundle, made from its template, applied to the cluster.',
    nameMaxLength: 45,
    // KEP-3659: objects of the kind may be the parents of ApplySets.
    labels: { 'applyset.kubernetes.io/is-parent-type': 'true' },
    spec: structuralSchema(bundleDeploymentSpecSchema),
    status: bundleDeploymentStatusSchema,
    printerColumns: [
      { name: 'Active Bundle', type: 'string', jsonPath: '.status.activeBundle' },
      {
        name: 'Install State',
        type: 'string',
        jsonPath: '.status.conditions[?(.type=="Installed")].reason',
      },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      provisionerColumn,
      ...readyColumns,
    ],
  });
}

interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  /** 1: shown by `kubectl get -o wide` only. */
  readonly priority?: number;
}

interface Kind {
  readonly names: {
    readonly kind: string;
    readonly listKind: string;
    readonly plural: string;
    readonly shortNames?: readonly string[];
    readonly singular: string;
  };
  readonly description: string;
  readonly nameMaxLength: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: StructuralSchema;
  readonly status: z.ZodType;
  readonly printerColumns: readonly PrinterColumn[];
}

const group = 'core.rukpak.io';

const provisionerColumn: PrinterColumn = {
  name: 'Provisioner',
  type: 'string',
  jsonPath: '.spec.provisionerClassName',
  priority: 1,
};

/** This project's columns come after RukPak's, because scripts count columns. */
const readyColumns: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: ofReady('status') },
  { name: 'Reason', type: 'string', jsonPath: ofReady('reason') },
  { name: 'Message', type: 'string', jsonPath: ofReady('message'), priority: 1 },
];

function ofReady(field: string): string {
  return `.status.conditions[?(@.type=="${kstatusCondition.ready}")].${field}`;
}

/**
 * The unions apply to Bundles only: a template is accepted, and fails when its Bundle is created.
 */
function bundleSchemaWithUnions(): StructuralSchema {
  const spec = structuralSchema(bundleSpecSchema);
  const fields = ['git', 'image', 'configMaps', 'upload', 'http', 'parameters'];
  const source = exactlyOneOf(spec, ['source'], fields);
  return exactlyOneOf(source, ['source', 'git', 'ref'], ['branch', 'commit', 'tag']);
}

/** The schema with a property at `path` that requires exactly one of `keys`. */
function exactlyOneOf(
  schema: StructuralSchema,
  path: readonly string[],
  keys: readonly string[],
): StructuralSchema {
  const [name, ...rest] = path;
  if (name === undefined) return { ...schema, oneOf: keys.map((key) => ({ required: [key] })) };
  const property = schema.properties?.[name];
  if (property === undefined) throw new Error(`the schema has no property "${name}"`);
  return {
    ...schema,
    properties: { ...schema.properties, [name]: exactlyOneOf(property, rest, keys) },
  };
}

function crd(kind: Kind): KubernetesObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.names.plural}.${group}`,
      ...(kind.labels === undefined ? {} : { labels: kind.labels }),
    },
    spec: {
      group,
      names: kind.names,
      scope: 'Cluster',
      conversion: { strategy: 'None' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          additionalPrinterColumns: kind.printerColumns,
          schema: { openAPIV3Schema: rootSchema(kind) },
          subresources: { status: {} },
        },
      ],
    },
  };
}

function rootSchema(kind: Kind): StructuralSchema {
  return {
    type: 'object',
    description: kind.description,
    required: ['spec'],
    properties: {
      apiVersion: {
        type: 'string',
        description: 'Version of the schema: core.rukpak.io/v1alpha1.',
      },
      kind: { type: 'string', description: `Kind of the object: ${kind.names.kind}.` },
      metadata: {
        type: 'object',
        properties: { name: { type: 'string', maxLength: kind.nameMaxLength } },
      },
      spec: kind.spec,
      status: structuralSchema(kind.status),
    },
  };
}
