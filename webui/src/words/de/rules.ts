import type english from "../en/rules";
import type { Translation } from "../language";

export default {
  gap: "Lückenlos: Jeder Knoten liefert jede Nummer einer Gruppe aus, von dem Stand an, den er übernahm.",
  duplicate: "Einmal: Keine Nummer einer Gruppe wird zweimal ausgeliefert.",
  late: "Der Reihe nach: Die Nummern einer Gruppe werden in ihrer Ordnung ausgeliefert, an jedem Knoten gleich.",
  not_hosted: "Nur Behaltenes: Ein Knoten liefert nur Gruppen aus, deren Stand er übernommen hat.",
  causal: "Kausal: Niemand bekommt eine Nachricht vor einer, die ihr Absender schon kannte (CT2).",
  strict: "Streng: Wer zwei strenge Gruppen teilt, sieht eine Ordnung beider (T2).",
  in_frame: "Wie gepackt: Was ein Sequencer zusammen sandte, kommt in seiner Ordnung an.",
  content:
    "Wie nummeriert: Ausgeliefert wird, was der Sequencer gestempelt hat: Nummer, Absender, Nachrichten.",
  phantom: "Nichts aus dem Nichts: Was ausgeliefert wird, hat ein Sequencer gestempelt.",
  after_leave: "Nicht nach dem Gehen: Niemand bekommt etwas, nachdem er gegangen ist.",
  two_sequencers: "Ein Sequencer: Eine Gruppe hat in jeder Epoche nur einen.",
  numbering:
    "Fortlaufend: Sequencer geben eine Nummer nach der anderen, über Umzüge und Ausfälle hinweg.",
  floor: "Nie wieder: Keine ausgelieferte Nummer wird noch einmal vergeben.",
  fifo: "Wie gesandt: Die Nachrichten eines Absenders haben ihre Nummern in seiner Reihenfolge, alle.",
  view: "Eine Sicht: Die Knoten sind sich einig, wer in einer Sicht ist.",
  view_order: "Wachsende Sichten: Die Sichten eines Knotens haben wachsende Nummern.",
  view_synchrony:
    "Gemeinsam: Von einem Sequencer, der fort ist, liefert niemand mehr aus als vereinbart.",
  verdict: "Ein Urteil: Alle Knoten lehnen dieselben Nachrichten ab.",
  delivery_numbers: "Ganze Protokolle: Die Auslieferungen eines Knotens sind lückenlos nummeriert.",
  missing_records: "Ehrliche Spuren: Keiner Spur fehlen Zeilen, ohne dass sie es sagt.",
} satisfies Translation<typeof english>;
