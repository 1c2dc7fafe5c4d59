import type { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { kstatusCondition } from '../v1alpha1/conditions.ts';
import { type StructuralSchema, structuralSchema } from './structural-schema.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  /** 1: shown by `kubectl get -o wide` only. */
  readonly priority?: number;
}

/** A cluster-scoped kind with a status, and one version. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly names: {
    readonly kind: string;
    readonly listKind: string;
    readonly plural: string;
    readonly shortNames?: readonly string[];
    readonly singular: string;
  };
  readonly description: string;
  /** Maximum length of metadata.name, below that of Kubernetes. */
  readonly nameMaxLength?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: StructuralSchema;
  readonly isSpecOptional?: boolean;
  readonly status: z.ZodType;
  readonly printerColumns: readonly PrinterColumn[];
}

/** On CRDs that other projects have as well: who installed them. */
export const installerLabel = { key: 'app.kubernetes.io/part-of', value: 'rukpak' } as const;

export const ageColumn: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};

/** This project's columns come after those of the kind's first project, because scripts count columns. */
export const readyColumns: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'string', jsonPath: ofReady('status') },
  { name: 'Reason', type: 'string', jsonPath: ofReady('reason') },
  { name: 'Message', type: 'string', jsonPath: ofReady('message'), priority: 1 },
];

function ofReady(field: string): string {
  return `.status.conditions[?(@.type=="${kstatusCondition.ready}")].${field}`;
}

/** The CustomResourceDefinition of a kind. */
export function customResourceDefinition(kind: Kind): KubernetesObject {
  const { group, labels, names, version } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${names.plural}.${group}`,
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {
      group,
      names,
      scope: 'Cluster',
      conversion: { strategy: 'None' },
      versions: [
        {
          name: version,
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
  const { group, isSpecOptional = false, nameMaxLength, names, version } = kind;
  return {
    type: 'object',
    description: kind.description,
    ...(isSpecOptional ? {} : { required: ['spec'] }),
    properties: {
      apiVersion: {
        type: 'string',
        description: `Version of the schema: ${group}/${version}.`,
      },
      kind: { type: 'string', description: `Kind of the object: ${names.kind}.` },
      metadata: {
        type: 'object',
        ...(nameMaxLength === undefined
          ? {}
          : { properties: { name: { type: 'string', maxLength: nameMaxLength } } }),
      },
      spec: kind.spec,
      status: structuralSchema(kind.status),
    },
  };
}
