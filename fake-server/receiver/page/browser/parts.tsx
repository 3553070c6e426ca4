import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { harmless } from "../../../../conformance/contract/harmless-text.ts";
import { errorMessage } from "../../../../conformance/contract/text.ts";

interface FieldProps {
  readonly label: string;
  readonly kind?: string;
  readonly children: ComponentChildren;
}

export const Field = ({ label, kind, children }: FieldProps) => (
  <label class={kind ?? ""}>
    <span class="label">{label}</span>
    {children}
  </label>
);

interface TextProps {
  readonly id: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly class?: string;
  readonly list?: string;
  readonly required?: boolean;
}

/** An input for addresses, ids and JSON rather than prose. */
export const Text = ({ onText, ...rest }: TextProps) => (
  <input
    type="text"
    spellcheck={false}
    autoComplete="off"
    {...rest}
    onInput={({ currentTarget }) => onText(currentTarget.value)}
  />
);

/** Runs a form's action, and reports the result in one line. */
export const useTask = () => {
  const [words, setWords] = useState("");
  const run = (task: () => Promise<string>): void => {
    setWords("…");
    // An error thrown by the task itself, such as invalid JSON, is shown like one from the receiver.
    void Promise.resolve()
      .then(task)
      .catch(errorMessage)
      .then((said) => setWords(harmless(said)));
  };
  return { words, run };
};

interface TaskFormProps {
  readonly label: string;
  readonly button: string;
  readonly task: () => Promise<string>;
  readonly children: ComponentChildren;
}

export const TaskForm = ({ label, button, task, children }: TaskFormProps) => {
  const { words, run } = useTask();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    run(task);
  };
  return (
    <form class="task" aria-label={label} onSubmit={submit}>
      {children}
      <button type="submit">{button}</button>
      <p class="note" role="status">
        {words}
      </p>
    </form>
  );
};

interface TableProps {
  readonly label: string;
  readonly name?: string;
  readonly columns: readonly string[];
  /** The first cell of a row names it. */
  readonly rows: readonly (readonly ComponentChildren[])[];
}

/** A table that scrolls if too wide, so it must be reachable by keyboard. */
export const Table = ({ label, name = "", columns, rows }: TableProps) => (
  <div class={`scroll ${name}`} tabIndex={0} role="group" aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...cells], index) => (
          <tr key={index}>
            <th scope="row">{head}</th>
            {cells.map((cell, column) => (
              <td key={column}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
