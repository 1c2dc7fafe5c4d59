import type { ClusterExtensionSpec } from '../../../api/olm/v1/index.ts';

type Filter = NonNullable<ClusterExtensionSpec['source']['catalog']>;
type Selector = NonNullable<Filter['selector']>;
type Labels = Readonly<Record<string, string>>;

/** Whether a metav1.LabelSelector selects an object; none, or an empty one, selects all. */
export function selects(selector: Selector | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return (
    Object.entries(matchLabels).every(([key, value]) => valueOf(labels, key) === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

/** An unknown operator selects nothing. */
function holds(
  { key, operator, values = [] }: NonNullable<Selector['matchExpressions']>[number],
  labels: Labels,
): boolean {
  const value = valueOf(labels, key);
  if (operator === 'Exists') return value !== undefined;
  if (operator === 'DoesNotExist') return value === undefined;
  if (operator === 'In') return value !== undefined && values.includes(value);
  return operator === 'NotIn' && (value === undefined || !values.includes(value));
}

function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
