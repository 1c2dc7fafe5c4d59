import { writeKey, writeScalar } from './yaml/write-scalar.ts';

/**
 * Writes objects as YAML documents, each preceded by a `---` line. Members keep their order, lists
 * stand in the column of their key, and what any YAML 1.1 reader could take for something else than
 * a string is quoted. Members that are `undefined` are left out; a `bigint` is written in full.
 */
export function toYaml(objects: readonly object[]): string {
  return objects.map(writeDocument).join('');
}

function writeDocument(object: object): string {
  const lines: string[] = ['---'];
  if (isEmpty(object)) lines.push(Array.isArray(object) ? '[]' : '{}');
  else writeCollection(object, { lines, indent: '' });
  return `${lines.join('\n')}\n`;
}

interface Output {
  readonly lines: string[];
  readonly indent: string;
  /** What stands in front of the first member, on its line: the dashes of the lists around it. */
  readonly lead?: string;
}

function writeCollection(value: object, output: Output): void {
  let start = output.lead ?? output.indent;
  if (Array.isArray(value)) {
    for (const item of value) {
      writeNode(item, { ...output, lead: `${start}-` });
      start = output.indent;
    }
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    writeMember(`${start}${writeKey(key, output.indent)}:`, member, output);
    start = output.indent;
  }
}

function writeMember(lead: string, value: unknown, output: Output): void {
  if (!isCollection(value)) {
    writeNode(value, { ...output, lead });
    return;
  }
  const { lines, indent } = output;
  lines.push(lead);
  writeCollection(value, { lines, indent: Array.isArray(value) ? indent : `${indent}  ` });
}

// An item of a list, or a member that fits behind its key.
function writeNode(value: unknown, { lines, indent, lead = '' }: Output): void {
  const inner = `${indent}  `;
  if (isCollection(value)) writeCollection(value, { lines, indent: inner, lead: `${lead} ` });
  else lines.push(`${lead} ${writeLeaf(value, inner)}`);
}

function writeLeaf(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return writeScalar(value, indent);
  return Array.isArray(value) ? '[]' : '{}';
}

function isCollection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isEmpty(value);
}

function isEmpty(value: object): boolean {
  return Object.values(value).every((member) => member === undefined && !Array.isArray(value));
}
