export interface TreeNode {
  /** Columns; those of siblings are aligned. */
  readonly cells: readonly string[];
  readonly children?: readonly TreeNode[];
}

/** A tree in ASCII, so that it looks the same in a terminal, a log and a mail. One line per node. */
export function treeLines({ cells, children = [] }: TreeNode): string[] {
  return [joined(cells, []), ...branchLines(children, '')];
}

function branchLines(nodes: readonly TreeNode[], indent: string): string[] {
  const widths = widthsOf(nodes.map(({ cells }) => cells));
  return nodes.flatMap(({ cells, children = [] }, index) => {
    const isLast = index === nodes.length - 1;
    const line = `${indent}${isLast ? '`-- ' : '|-- '}${joined(cells, widths)}`;
    return [line, ...branchLines(children, `${indent}${isLast ? '    ' : '|   '}`)];
  });
}

/** Rows with aligned columns, the first row being the headings. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = widthsOf(rows);
  return rows.map((row) => joined(row, widths));
}

function widthsOf(rows: readonly (readonly string[])[]): readonly number[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: columns }, (_, column) =>
    // The last cell of a row makes no other one wider.
    Math.max(
      0,
      ...rows.map((row) => (column < row.length - 1 ? oneLine(row[column] ?? '').length : 0)),
    ),
  );
}

function joined(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => oneLine(cell).padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();
}

const longest = 600;

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)} … (all of it: --output json)` : line;
}
